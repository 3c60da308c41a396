import type { CommitOutcome, NewEvent, StoredEvent, Write } from '@perdure/ports'
import { applyWrites, ready, runNow, statement } from '@perdure/storage'
import type { Connection } from '../file/connection.ts'
import { appendEvents } from './append-events.ts'

export interface WriteJob {
  readonly request: readonly Write[]
}

export type JobResult = { readonly result: CommitOutcome } | { readonly error: unknown }

/**
 * Runs the jobs in one transaction. A conflict or an error undoes only its own job. When the transaction itself fails,
 * every job gets that error. No transaction is open afterwards.
 */
export function commitGroup(db: Connection, jobs: readonly WriteJob[]): readonly JobResult[] {
  try {
    const results = commitTogether(db, jobs)
    return results === ROLLED_BACK ? commitWithSavepoints(db, jobs) : results
  } catch (error) {
    const reported = undo(db, error)
    return jobs.map(() => ({ error: reported }))
  }
}

/** The whole group was rolled back because one job conflicted or threw. All jobs have to run again, with savepoints. */
const ROLLED_BACK = 'rolled-back'

/** Commits without savepoints, because for each savepoint SQLite copies every page that the job changes. */
function commitTogether(db: Connection, jobs: readonly WriteJob[]): readonly JobResult[] | typeof ROLLED_BACK {
  db.run(BEGIN, undefined)
  const results: JobResult[] = []
  for (const job of jobs) {
    const result = tryJob(db, job)
    if (result === FAILED || !(result.committed || changedNothing(result))) {
      db.run(ROLLBACK, undefined)
      return ROLLED_BACK
    }
    results.push({ result })
  }
  db.run(COMMIT, undefined)
  return results
}

/** The job threw, and the transaction is still open. */
const FAILED = 'failed'

/** @throws the error of the job when SQLite has rolled the transaction back. */
function tryJob(db: Connection, { request }: WriteJob): CommitOutcome | typeof FAILED {
  try {
    return applyCommit(db, request)
  } catch (error) {
    if (!db.database.inTransaction) throw error
    return FAILED
  }
}

/** A repeated request conflicts in its first write, so there is nothing to undo. */
const changedNothing = (result: Exclude<CommitOutcome, { readonly committed: true }>): boolean =>
  result.index === 0 && result.conflict.type === 'idempotency.reserve'

/** Runs each job in its own savepoint. */
function commitWithSavepoints(db: Connection, jobs: readonly WriteJob[]): readonly JobResult[] {
  db.run(BEGIN, undefined)
  const results = jobs.map((job) => runJob(db, job))
  db.run(COMMIT, undefined)
  return results
}

/** @throws the error of the job when SQLite has rolled the transaction back. */
function runJob(db: Connection, { request }: WriteJob): JobResult {
  db.run(SAVEPOINT, undefined)
  try {
    const result = applyCommit(db, request)
    if (!result.committed) db.run(ROLLBACK_TO, undefined)
    db.run(RELEASE, undefined)
    return { result }
  } catch (error) {
    if (!db.database.inTransaction) throw error
    db.run(ROLLBACK_TO, undefined)
    db.run(RELEASE, undefined)
    return { error }
  }
}

/** Rolls back. Returns the error to report: the error of the rollback if it fails too, otherwise `error`. */
function undo(db: Connection, error: unknown): unknown {
  try {
    if (db.database.inTransaction) db.run(ROLLBACK, undefined)
    return error
  } catch (rollbackError) {
    return rollbackError
  }
}

const BEGIN = statement('BEGIN IMMEDIATE')
const COMMIT = statement('COMMIT')
const ROLLBACK = statement('ROLLBACK')
const SAVEPOINT = statement('SAVEPOINT job')
const ROLLBACK_TO = statement('ROLLBACK TO job')
const RELEASE = statement('RELEASE job')

/** Applies the writes of a commit within the open transaction. After a conflict or an error the host rolls back. */
export function applyCommit(connection: Connection, writes: readonly Write[]): CommitOutcome {
  const events: StoredEvent[] = []
  const pending: NewEvent[] = []
  const tx = {
    db: connection.db,
    append: (added: readonly NewEvent[]) => void pending.push(...added),
    flush() {
      events.push(...appendEvents(connection, pending.splice(0)))
      return ready(undefined)
    },
  }
  const applied = runNow(applyWrites(tx, writes))
  return applied.committed ? { ...applied, events } : applied
}

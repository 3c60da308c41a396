import type { Connection } from '../connection.ts'
import { WRITES, type WriteName, type WriteRequest, type WriteResult } from '../operations.ts'
import { statement } from '../query.ts'

export interface WriteJob<Name extends WriteName = WriteName> {
  readonly name: Name
  readonly request: WriteRequest<Name>
}

export type Settled = { readonly result: WriteResult<WriteName> } | { readonly error: unknown }

/**
 * Runs the jobs in one transaction: a conflict or an error undoes its job alone. When the transaction itself is lost, every job
 * settles with its error. No transaction is open afterwards.
 */
export function commitGroup(db: Connection, jobs: readonly WriteJob[]): readonly Settled[] {
  try {
    return commitTogether(db, jobs) ?? commitApart(db, jobs)
  } catch (error) {
    const reported = undo(db, error)
    return jobs.map(() => ({ error: reported }))
  }
}

/**
 * Without savepoints, for each of which SQLite copies every page that its job touches. `undefined`, and nothing done, when a job
 * is to be undone alone.
 */
function commitTogether(db: Connection, jobs: readonly WriteJob[]): readonly Settled[] | undefined {
  db.run(BEGIN, undefined)
  const settled: Settled[] = []
  for (const job of jobs) {
    const result = tryJob(db, job)
    if (result === undefined || !(result.committed || hasDoneNothing(result))) {
      db.run(ROLLBACK, undefined)
      return undefined
    }
    settled.push({ result })
  }
  db.run(COMMIT, undefined)
  return settled
}

/** `undefined` after an error. @throws when the transaction did not survive the job. */
function tryJob(db: Connection, { name, request }: WriteJob): WriteResult<WriteName> | undefined {
  try {
    return WRITES[name](db, request)
  } catch (error) {
    if (!db.database.inTransaction) throw error
    return undefined
  }
}

/** A repeated request is refused by its first write. */
const hasDoneNothing = (result: Exclude<WriteResult<WriteName>, { readonly committed: true }>): boolean =>
  result.index === 0 && result.conflict.type === 'idempotency.reserve'

/** Each job in a savepoint of its own. */
function commitApart(db: Connection, jobs: readonly WriteJob[]): readonly Settled[] {
  db.run(BEGIN, undefined)
  const settled = jobs.map((job) => runJob(db, job))
  db.run(COMMIT, undefined)
  return settled
}

/** @throws when the transaction did not survive the job. */
function runJob(db: Connection, { name, request }: WriteJob): Settled {
  db.run(SAVEPOINT, undefined)
  try {
    const result = WRITES[name](db, request)
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

/** Rolls back; a rollback that fails is the graver error. */
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

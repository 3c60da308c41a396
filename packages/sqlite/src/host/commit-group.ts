import type { Connection } from '../connection.ts'
import { WRITES, type WriteName, type WriteRequest, type WriteResult } from '../operations.ts'
import { statement } from '../query.ts'

export interface WriteJob<Name extends WriteName = WriteName> {
  readonly name: Name
  readonly request: WriteRequest<Name>
}

export type Settled = { readonly result: WriteResult<WriteName> } | { readonly error: unknown }

/**
 * Runs the jobs in one transaction, each in a savepoint of its own: a conflict or an error undoes that job alone. When
 * the transaction itself is lost, every job settles with its error. No transaction is open afterwards.
 */
export function commitGroup(db: Connection, jobs: readonly WriteJob[]): readonly Settled[] {
  try {
    db.run(BEGIN, undefined)
    const settled = jobs.map((job) => runJob(db, job))
    db.run(COMMIT, undefined)
    return settled
  } catch (error) {
    const reported = undo(db, error)
    return jobs.map(() => ({ error: reported }))
  }
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

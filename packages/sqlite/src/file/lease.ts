import Database from 'better-sqlite3'
import { createPrivateFile } from './private-file.ts'
import { isSqliteError, lockedError, translateStartError } from './sqlite-error.ts'

/** The sole right to serve a database file. */
export interface Lease {
  /** Idempotent. */
  release(): void
}

/**
 * Takes the lease: an exclusive lock on `<path>.lock`, held until `release` or the death of the process, whichever comes
 * first. The file itself stays, because deleting it could let two processes lock two files of one name.
 *
 * @throws StartError `storage-locked` at once when another holds it.
 */
export function takeLease(path: string): Lease {
  const lockPath = `${path}.lock`
  createPrivateFile(lockPath)
  const database = lockFile(lockPath, path)
  held.add(database)
  return {
    release() {
      held.delete(database)
      database.close()
    },
  }
}

function lockFile(lockPath: string, path: string): Database.Database {
  let database: Database.Database | undefined
  try {
    database = new Database(lockPath, { timeout: 0 })
    database.exec('BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database?.close()
    if (isSqliteError(error) && error.code.startsWith('SQLITE_BUSY')) throw lockedError(path, error)
    throw translateStartError(error, lockPath)
  }
}

/** Keeps the connections from being collected: that would close them and free the locks. */
const held = new Set<Database.Database>()

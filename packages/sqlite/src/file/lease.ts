import Database from 'better-sqlite3'
import { createPrivateFile } from './private-file.ts'
import { isSqliteError, lockedError, translateStartError } from './sqlite-error.ts'

/** The exclusive right to serve a database file. */
export interface Lease {
  /** Idempotent. */
  release(): void
}

/**
 * Takes the lease: an exclusive lock on `<path>.lock`, held until `release` or until the process dies. The lock file is
 * never deleted, because otherwise two processes could lock two different files of the same name.
 *
 * @throws StartError `storage-locked` immediately when the lease is already held.
 */
export function takeLease(path: string): Lease {
  const lockPath = `${path}.lock`
  createPrivateFile(lockPath)
  const database = lockFile(lockPath, path)
  heldConnections.add(database)
  return {
    release() {
      heldConnections.delete(database)
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

/** Keeps the connections reachable: garbage collection would close them and release the locks. */
const heldConnections = new Set<Database.Database>()

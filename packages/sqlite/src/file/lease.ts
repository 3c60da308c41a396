import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { type CommitMark, countInLock, storeInLock } from './commit-mark.ts'
import type { OpenDatabase } from './open-database.ts'
import { createPrivateFile, fileSize } from './private-file.ts'
import { requireSingleName } from './single-name.ts'
import { isBusyError, isSqliteError, lockedError, translateStartError } from './sqlite-error.ts'

/** The exclusive right to serve a database file. */
export interface Lease {
  /**
   * Checks that nobody has the database open, if the lock file was deleted while the database was in use. A server
   * whose lock file was deleted notices that and stops, so this waits for a few seconds. Call this before the database
   * is opened for writing.
   *
   * @throws StartError `storage-locked`
   */
  requireSoleOwner(open: OpenDatabase): void
  /** The count that `storeMark` stored last for this epoch, also by an earlier process; 0 if there is none. */
  countOf(epoch: string): number
  /**
   * Stores in the lock file that the database holds this mark durably. Best effort: if it fails, the next start may not
   * notice a lost log.
   */
  storeMark(mark: CommitMark): void
  /** Idempotent. */
  release(): void
}

/**
 * Takes the lease: an exclusive lock on `<path>.lock`, held until `release` or until the process dies. The lock file is
 * never deleted, because otherwise two processes could lock two different files of the same name.
 *
 * @throws StartError `storage-locked` immediately when the lease is already held; `storage-shared` for a database that
 *   has a second name
 */
export function takeLease(path: string): Lease {
  requireSingleName(path)
  const lockPath = `${path}.lock`
  // A server leaves its log only while it runs or after a crash, and never without its lock file.
  const isLockMissing = !existsSync(lockPath) && existsSync(`${path}-wal`) && fileSize(path) > 0
  createPrivateFile(lockPath)
  const database = lockFile(lockPath, path)
  heldConnections.add(database)
  return {
    requireSoleOwner(open) {
      if (isLockMissing) requireUnused(path, open)
    },
    countOf: (epoch) => countInLock(database, epoch),
    storeMark(mark) {
      try {
        storeInLock(database, mark)
      } catch {}
    },
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
    // The lock outlives every transaction, and no journal appears beside the file.
    database.pragma('locking_mode = EXCLUSIVE')
    database.pragma('journal_mode = MEMORY')
    database.pragma(`page_size = ${PAGE_BYTES}`)
    database.exec('BEGIN EXCLUSIVE; ROLLBACK')
    return database
  } catch (error) {
    database?.close()
    if (isSqliteError(error) && error.code.startsWith('SQLITE_BUSY')) throw lockedError(path, error)
    throw translateStartError(error, lockPath)
  }
}

/** A page of one disk sector is never written in part. */
const PAGE_BYTES = 512

/** A server needs about two seconds to notice that its lock file was deleted, and to stop. */
const OWNER_WAIT_MS = 10_000

/** Every connection to the database holds a shared lock on the database file itself. */
function requireUnused(path: string, open: OpenDatabase): void {
  const database = open(path, { timeout: OWNER_WAIT_MS })
  try {
    database.pragma('locking_mode = EXCLUSIVE')
    database.prepare('SELECT count(*) FROM sqlite_schema').get()
  } catch (error) {
    if (isBusyError(error)) throw lockedError(path, error)
  } finally {
    database.close()
  }
}

/** Keeps the connections reachable: garbage collection would close them and release the locks. */
const heldConnections = new Set<Database.Database>()

import type Database from 'better-sqlite3'

/**
 * A count that the server stores in its database about every second, and afterwards in its lock file. The lock file has
 * a count only after the database file or its log holds all commits up to that count, so a database with a lower count
 * than its lock file lacks acknowledged commits.
 */
export interface CommitMark {
  /** Epoch of the database that the count belongs to. */
  readonly epoch: string
  readonly count: number
}

/** Name of the row of the table `meta`. Databases of earlier versions have no such row; their count is 0. */
export const COMMIT_MARK = 'commit_mark' as const

/** Reads the count from the database. */
export function markOf(database: Database.Database): CommitMark {
  const rows = database.prepare('SELECT name, value FROM meta WHERE name IN (?, ?)').raw().all('epoch', COMMIT_MARK)
  const values = new Map(rows as [string, string][])
  return { epoch: values.get('epoch') ?? '', count: Number(values.get(COMMIT_MARK) ?? 0) }
}

/** The count in the lock file, if it belongs to this epoch; otherwise 0. */
export function countInLock(lock: Database.Database, epoch: string): number {
  if (lock.pragma('application_id', { simple: true }) !== idOf(epoch)) return 0
  return lock.pragma('user_version', { simple: true }) as number
}

/**
 * Stores the count in the header of the lock file, which is a single page. Only the first write is flushed: a power
 * loss may undo a later count, but must not leave an invalid database page.
 */
export function storeInLock(lock: Database.Database, { epoch, count }: CommitMark): void {
  const isNew = lock.pragma('page_count', { simple: true }) === 0
  lock.pragma(`synchronous = ${isNew ? 'FULL' : 'OFF'}`)
  const store = lock.transaction(() => {
    lock.pragma(`application_id = ${idOf(epoch)}`)
    lock.pragma(`user_version = ${count}`)
  })
  store()
}

/** The header has 32 bits for an id. */
const idOf = (epoch: string): number => Number.parseInt(epoch.slice(0, 8), 16) | 0

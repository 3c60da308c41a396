import { StartError } from '@perdure/ports'
import type Database from 'better-sqlite3'

/**
 * In older versions, a checkpoint can lose a concurrent commit of another connection. @see https://sqlite.org/wal.html
 */
const MINIMUM_SQLITE = [3, 51, 3] as const

/** @throws StartError `node-too-old` when the driver bundles an older SQLite. */
export function requireSqliteVersion(database: Database.Database): void {
  const version = database.prepare('SELECT sqlite_version()').pluck().get() as string
  if (isAtLeast(version.split('.').map(Number), MINIMUM_SQLITE)) return
  throw new StartError('node-too-old', {
    message: `The storage driver bundles SQLite ${version}; ${MINIMUM_SQLITE.join('.')} or newer is required.`,
    hint: 'Install better-sqlite3 13.2 or newer.',
  })
}

function isAtLeast(version: readonly number[], minimum: readonly number[]): boolean {
  for (const [index, least] of minimum.entries()) {
    const part = version[index] ?? 0
    if (part !== least) return part > least
  }
  return true
}

import Database from 'better-sqlite3'
import { pendingMigrations } from './migrate.ts'
import { fileSize } from './private-file.ts'
import { corruptError, translateStartError } from './sqlite-error.ts'

export interface Inspection {
  /** Reads the whole file when the last server on it did not end in order. */
  readonly checkAfterCrash: boolean
}

/**
 * Looks at the file through a read-only connection before anything may write to it.
 *
 * @throws StartError `storage-corrupt`, `storage-newer-schema`, `migration-failed` or `storage-locked`; the file is as it was.
 */
export function inspectDatabase(path: string, { checkAfterCrash }: Inspection): void {
  if (fileSize(path) === 0) return
  const database = new Database(path, { readonly: true, fileMustExist: true })
  try {
    if (isForeign(database)) throw corruptError(path)
    pendingMigrations(database)
    if (checkAfterCrash && !endedInOrder(database)) checkPages(database, path)
  } catch (error) {
    throw translateStartError(error, path)
  } finally {
    database.close()
  }
}

/** Tables of another program, and none of ours. */
function isForeign(database: Database.Database): boolean {
  const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()
  return names.length > 0 && !names.includes('schema_migrations')
}

function endedInOrder(database: Database.Database): boolean {
  const hasMeta = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get() !== undefined
  if (!hasMeta) return true
  return database.prepare("SELECT value FROM meta WHERE name = 'clean_shutdown'").pluck().get() === '1'
}

function checkPages(database: Database.Database, path: string): void {
  const finding = database.pragma('quick_check(1)', { simple: true })
  if (finding !== 'ok') throw corruptError(path, new Error(String(finding)))
}

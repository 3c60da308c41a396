import { StartError } from '@perdure/ports'
import type Database from 'better-sqlite3'

/** Name of the row of the table `meta` that says where the content of the file was moved. */
const MOVED_TO = 'moved_to'

/** Where the content of the file was moved, for people; `undefined` if it was not moved. */
export const movedTo = (database: Database.Database): string | undefined => {
  const hasMeta = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get() !== undefined
  if (!hasMeta) return undefined
  return database.prepare('SELECT value FROM meta WHERE name = ?').pluck().get(MOVED_TO) as string | undefined
}

export function storeMovedTo(database: Database.Database, target: string): void {
  database
    .prepare('INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value')
    .run(MOVED_TO, target)
}

/** @throws StartError `storage-moved` */
export function requireNotMoved(path: string, target: string | undefined): void {
  if (target === undefined) return
  throw new StartError('storage-moved', {
    message: `The database ${path} was moved to ${target}.`,
    hint: 'Set storage.kind to postgres and storage.urlRef to that database. If the move was interrupted, run `perdure migrate sqlite-to-postgres` again. The file is kept as it was when it was moved.',
  })
}

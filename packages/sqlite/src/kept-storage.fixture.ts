import Database from 'better-sqlite3'
import { afterAll, onTestFailed } from 'vitest'

/** Tables whose rows describe the file. Those of a virtual table empty with it. */
const KEPT = /^(sqlite_.*|meta|schema_migrations|fact_words_.*)$/

/**
 * Returns a function that opens a storage at its first call; later calls delete the rows of that storage and return it,
 * unless a test failed or closed it. Positions are not reset. Starting the thread of a storage takes five times as long as
 * a typical contract case.
 */
export function keepStorage<S extends { close(): Promise<void> }>(
  path: string,
  open: () => Promise<S>,
): () => Promise<S> {
  let kept: S | undefined
  let beside: Database.Database | undefined
  let empty: (() => void) | undefined
  const deletionIn = (database: Database.Database): (() => void) => {
    database.pragma('foreign_keys = OFF')
    const tables = database.prepare<[], string>("select name from sqlite_master where type = 'table'").pluck().all()
    const deletions = [
      ...tables.filter((name) => !KEPT.test(name)).map((name) => `delete from "${name}";`),
      "update meta set value = '0' where name = 'trimmed_through';",
    ].join('\n')
    return database.transaction(() => void database.exec(deletions))
  }
  const close = async () => {
    const closing = kept
    kept = undefined
    await closing?.close()
  }
  afterAll(async () => {
    beside?.close()
    await close()
  })

  return async () => {
    if (kept === undefined) kept = await open()
    beside ??= new Database(path)
    empty ??= deletionIn(beside)
    empty()
    onTestFailed(close)
    return { ...kept, close }
  }
}

import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Opens a copy of the file with its WAL, so that inspecting it does not change what the next server finds. */
export function withCopy<T>(path: string, look: (database: DatabaseSync) => T): T {
  const directory = mkdtempSync(join(tmpdir(), 'perdure-copy-'))
  try {
    const copy = join(directory, 'data.db')
    for (const suffix of ['', '-wal']) if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix)
    const database = new DatabaseSync(copy)
    try {
      return look(database)
    } finally {
      database.close()
    }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Returns the problems that SQLite finds in pages and references. */
export function inspectCopy(path: string): readonly string[] {
  if (!existsSync(path)) return []
  return withCopy(path, (database) => {
    const pages = database
      .prepare('PRAGMA integrity_check')
      .all()
      .map((row) => String(row.integrity_check))
    const references = database
      .prepare('PRAGMA foreign_key_check')
      .all()
      .map((row) => JSON.stringify(row))
    return [...pages.filter((finding) => finding !== 'ok'), ...references]
  })
}

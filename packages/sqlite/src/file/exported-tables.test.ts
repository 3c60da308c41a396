import { describe, expect, it } from 'vitest'
import { openConnection } from './connection.ts'
import { exportQueries } from './exported-tables.ts'
import { applyMigrations } from './migrate.ts'

const openNewest = () => {
  const { database } = openConnection(':memory:')
  applyMigrations(database, { now: () => 0 })
  return database
}

/** Tables of which the export has no rows, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  meta: 'its values are exported one by one',
  schema_migrations: 'each adapter has migrations of its own',
  run_keys: 'rows have the id of the run instead',
  fact_words: 'an index of the texts of facts, which the target makes itself',
}

/** Values of `meta` that say something about this file only. */
const META_OF_FILE = ['clean_shutdown', 'commit_mark', 'moved_to']

/** Columns with a key that only one file knows. */
const KEYS = ['key', 'run_key', 'session_key', 'fact_key']

interface Column {
  readonly name: string
  readonly type: string
}

describe('the exported tables', () => {
  it('are all tables of the newest schema', () => {
    const database = openNewest()
    const tables = database
      .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')")
      .pluck()
      .all() as string[]
    const exported = exportQueries(database).map(({ table }) => table.name)
    const known = [...exported, ...Object.keys(LEFT_OUT)].toSorted()

    expect(tables.filter((name) => !name.startsWith('sqlite_')).toSorted()).toEqual(known)
  })

  it('have every column but keys of the file', () => {
    const database = openNewest()
    for (const { table } of exportQueries(database)) {
      const stored = database.prepare('SELECT name, type FROM pragma_table_info(?)').all(table.name) as Column[]
      const data = stored.filter(({ name, type }) => !(KEYS.includes(name) && type === 'INTEGER'))
      const added = table.columns.filter((column) => !stored.some(({ name }) => name === column))

      expect(table.columns).toEqual(expect.arrayContaining(data.map(({ name }) => name)))
      expect(['run_id', 'session_id', 'fact_id']).toEqual(expect.arrayContaining(added))
    }
  })

  it('have a row for each row, sorted without a sort of the table', () => {
    const database = openNewest()
    for (const { table, sql } of exportQueries(database)) {
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]
      const details = plan.map(({ detail }) => detail).join('; ')

      expect(details, `${table.name}: ${details}`).not.toContain('USE TEMP B-TREE')
    }
  })

  it('know every value of the table meta', () => {
    const names = openNewest().prepare('SELECT name FROM meta').pluck().all() as string[]
    const exported = ['epoch', 'trimmed_through', 'hashed_ids_until']

    expect(names.filter((name) => !META_OF_FILE.includes(name)).toSorted()).toEqual(exported.toSorted())
  })
})

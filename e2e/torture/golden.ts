import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'

/** Database files with rows, one for each schema version; created by `make-golden.ts`. */
const FOLDER = join(import.meta.dirname, '../golden')

export const goldenVersions = (): readonly number[] =>
  readdirSync(FOLDER)
    .flatMap((name) => /^schema-(\d+)\.db\.gz$/.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((one, other) => one - other)

export const goldenFile = (version: number): string => join(FOLDER, `schema-${String(version).padStart(2, '0')}.db.gz`)

/** Unpacks the database of a version into the folder and returns its path. */
export const unpackGolden = (version: number, folder: string): string => unpackFile(goldenFile(version), folder)

/** Unpacks a compressed database into the folder and returns its path. */
export function unpackFile(file: string, folder: string): string {
  if (!existsSync(folder)) mkdirSync(folder)
  const path = join(folder, 'data.db')
  writeFileSync(path, gunzipSync(readFileSync(file)), { mode: 0o600 })
  return path
}

type Row = Readonly<Record<string, unknown>>

export interface Contents {
  readonly version: number
  /** Versions recorded as applied. */
  readonly applied: readonly number[]
  /** The schema statements, without those of SQLite's own tables. */
  readonly schema: readonly string[]
  readonly rows: Readonly<Record<string, readonly Row[]>>
}

export function readContents(database: DatabaseSync): Contents {
  const all = (sql: string) => database.prepare(sql).all() as Row[]
  const tables = all(`SELECT name FROM sqlite_schema WHERE type = 'table' AND ${OURS}`)
  const names = tables.map(({ name }) => String(name)).filter((name) => !name.startsWith('fact_words'))
  return {
    version: Number(all('PRAGMA user_version')[0]?.user_version),
    applied: all('SELECT version FROM schema_migrations ORDER BY version').map(({ version }) => Number(version)),
    schema: all(`SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND ${OURS} ORDER BY type, name`).map(({ sql }) =>
      String(sql),
    ),
    rows: Object.fromEntries(names.map((name) => [name, all(`SELECT * FROM "${name}" ORDER BY 1`).map(plain)])),
  }
}

/** Excludes SQLite's own tables, because a copy lacks the empty ones. */
const OURS = "name NOT LIKE 'sqlite_%'"

const plain = (row: Row): Row => ({ ...row })

/**
 * Returns the rows that are missing from the later contents. Compares only the columns that the earlier contents have.
 */
export function lostRows(before: Contents, after: Contents): readonly string[] {
  return Object.entries(before.rows).flatMap(([table, rows]) => {
    const now = after.rows[table] ?? []
    return rows
      .filter((row) => !now.some((later) => holds(later, row)))
      .map((row) => `${table}: ${JSON.stringify(row)}`)
  })
}

const holds = (later: Row, row: Row): boolean =>
  Object.entries(row).every(([column, value]) => JSON.stringify(later[column]) === JSON.stringify(value))

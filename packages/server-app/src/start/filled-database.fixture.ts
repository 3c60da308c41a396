import { createHash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { GENESIS_HASH } from '@perdure/ports'
import { openSqliteStorage } from '@perdure/sqlite'

const TEXTS = [
  '',
  'plain',
  'ä€😀',
  'a\u0000b\u0000',
  '\u0001\u0001\u0002',
  `' " \\ {a,b} NULL \\x41`,
  'two\nlines\tand \u2028',
  'x'.repeat(300),
  '[1, "JSON"]',
]
const NUMBERS = [0, -0.5, 0.1 + 0.2, 1e-7, 1e300, 1 / 3, -0]

/** Columns whose values have a form of their own. */
const VALUES: Readonly<Record<string, (row: number) => string | number | null>> = {
  'facts.tags': (row) => JSON.stringify(row % 3 === 0 ? [] : [textOf(row), textOf(row + 1)]),
  'facts.text': (row) => `the words of fact ${row} ${'long'.repeat(row * 20)} ${textOf(row)}`,
  'audit_outbox.entry': (row) => JSON.stringify({ text: textOf(row) }),
  'trigger_fires.trigger_id': (row) => idOf('triggers', row),
  'fact_vectors.fact_key': (row) => row + 1,
  'triggers.is_active': (row) => row % 2,
}

const textOf = (row: number): string => TEXTS[row % TEXTS.length] ?? ''
const idOf = (table: string, row: number): string => `${table} ${textOf(row)} ${row}`

interface Column {
  readonly name: string
  readonly type: string
  readonly notnull: number
  readonly pk: number
}

/** Creates a database that was shut down cleanly, with rows in every table and odd values in every column. */
export async function fillDatabase(path: string, rows: number): Promise<void> {
  await (await openSqliteStorage({ path })).close()
  const database = new DatabaseSync(path)
  database.exec('PRAGMA foreign_keys = OFF; BEGIN')
  for (const table of tablesOf(database)) fillTable(database, table, rows)
  fillChain(database, rows)
  database.prepare("UPDATE meta SET value = '7' WHERE name = 'trimmed_through'").run()
  database.prepare("UPDATE meta SET value = '9000000000000' WHERE name = 'hashed_ids_until'").run()
  database.exec('COMMIT')
  database.close()
}

const NOT_FILLED = ['meta', 'schema_migrations', 'audit_entries', 'audit_heads']

function tablesOf(database: DatabaseSync): readonly string[] {
  const found = database
    .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
  return found.map(({ name }) => String(name)).filter((name) => !NOT_FILLED.includes(name))
}

function fillTable(database: DatabaseSync, table: string, rows: number): void {
  database.exec(`DELETE FROM ${table}`)
  const columns = database.prepare('SELECT name, type, "notnull", pk FROM pragma_table_info(?)').all(table)
  const names = columns.map(({ name }) => `"${name}"`)
  const insert = database.prepare(`INSERT INTO ${table} (${names}) VALUES (${names.map(() => '?')})`)
  for (let row = 0; row < rows; row++) {
    insert.run(...columns.map((column) => valueIn(table, column as unknown as Column, row)))
  }
}

function valueIn(table: string, { name, type, notnull, pk }: Column, row: number): string | number | Uint8Array | null {
  const given = VALUES[`${table}.${name}`]
  if (given !== undefined) return given(row)
  const isNull = notnull === 0 && pk === 0 && row % 4 === 3
  if (isNull) return null
  if (type === 'BLOB') return new Uint8Array([row, 0, 255, 1])
  if (type === 'REAL') return NUMBERS[row % NUMBERS.length] ?? 0
  if (type === 'INTEGER') return /_at$|^at$|position|_ms$/.test(name) ? 2 ** 45 + row * 3 : row + 1
  return name === 'value' ? textOf(row) : idOf(table === 'run_keys' ? 'runs' : table, row)
}

function fillChain(database: DatabaseSync, rows: number): void {
  database.exec('DELETE FROM audit_entries; DELETE FROM audit_heads')
  let before = GENESIS_HASH
  const insert = database.prepare('INSERT INTO audit_entries (seq, hash, prev_hash, entry) VALUES (?, ?, ?, ?)')
  for (let seq = 1; seq <= rows; seq++) {
    const entry = JSON.stringify({ seq, text: textOf(seq) })
    const hash = createHash('sha256')
      .update(before + entry)
      .digest('hex')
    insert.run(seq, hash, before, entry)
    before = hash
  }
  database.prepare('INSERT INTO audit_heads VALUES (?, ?, ?, ?)').run('head', rows, before, 'mac')
}

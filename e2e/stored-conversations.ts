import { openSession } from '../packages/postgres/src/connection/session.ts'
import type { Sandbox } from './perdure-process.ts'
import { withCopy } from './torture/database-copy.ts'

type Rows = readonly (readonly [table: string, rows: readonly unknown[]])[]

/** What belongs to a session, or to the files of one. */
const TABLES = ['sessions', 'session_fields', 'messages', 'runs', 'run_fields', 'steps', 'files', 'file_holders']

/** What a stopped server has left of deleted sessions: rows of these tables, and those with one of the texts in any table. */
export async function leftRows({ env }: Sandbox, texts: readonly string[]): Promise<readonly string[]> {
  const all = env.PERDURE_STORAGE_KIND === 'postgres' ? await rowsOfSchema(env) : rowsOfFile(env.PERDURE_STORAGE_PATH)
  return all.flatMap(([table, rows]) =>
    rows
      .map((row) => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value)))
      .filter((row) => TABLES.includes(table) || texts.some((text) => row.includes(text)))
      .map((row) => `left in ${table}: ${row.slice(0, 300)}`),
  )
}

const rowsOfFile = (path = ''): Rows =>
  withCopy(path, (database) =>
    database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%fts%'")
      .all()
      .map(({ name }) => [String(name), database.prepare(`SELECT * FROM ${name}`).all()] as const),
  )

const TABLES_OF_SCHEMA =
  "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"

async function rowsOfSchema(env: NodeJS.ProcessEnv): Promise<Rows> {
  const schema = env.PERDURE_STORAGE_SCHEMA ?? ''
  const server = { url: env.E2E_DATABASE_URL ?? '', schema, statementTimeoutMs: 60_000, pipeline: false }
  const session = await openSession(server, { name: 'left-rows', planning: 'default' })
  const query = async (text: string) =>
    (await session.execute({ text, values: [] })).rows as readonly Record<string, unknown>[]
  try {
    const found: [string, readonly unknown[]][] = []
    for (const row of await query(TABLES_OF_SCHEMA)) {
      const table = String(row.relname)
      found.push([table, await query(`SELECT * FROM ${table}`)])
    }
    return found
  } finally {
    await session.close()
  }
}

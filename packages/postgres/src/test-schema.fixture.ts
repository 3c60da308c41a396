import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, afterEach } from 'vitest'
import { sharedPostgres } from '../../../tooling/postgres-server.ts'
import { type InternalOptions, openStorage, type PostgresStorage } from './open-postgres-storage.ts'
import type { PostgresStorageOptions } from './postgres-storage-options.ts'

type TestOptions = Partial<PostgresStorageOptions & InternalOptions> & {
  /** Opens the storage with the rows of others that are open. */
  readonly keepRows?: boolean
}

export interface TestSchema {
  readonly name: string
  url(): Promise<string>
  /** Deletes all rows unless told otherwise, and opens the storage; closed after the test. */
  open(options?: TestOptions): Promise<PostgresStorage>
  /** Executes statements in the schema, beside the storage. */
  query(text: string, values?: unknown[]): Promise<readonly Record<string, unknown>[]>
}

/** A schema of the shared server for one test file; dropped after its last test. */
export function createTestSchema(): TestSchema {
  const name = `test_${randomUUID().replaceAll('-', '').slice(0, 16)}`
  const opened: PostgresStorage[] = []
  let connecting: Promise<pg.Client> | undefined
  const client = (): Promise<pg.Client> => {
    connecting ??= sharedPostgres().then(async (connectionString) => {
      const connected = new pg.Client({ connectionString, options: `-c search_path=${name}` })
      await connected.connect()
      return connected
    })
    return connecting
  }
  const query = async (text: string, values: unknown[] = []) => (await (await client()).query(text, values)).rows

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((storage) => storage.close()))
  })

  afterAll(async () => {
    if (connecting === undefined) return
    await query(`drop schema if exists ${name} cascade`)
    await (await client()).end()
  })

  return {
    name,
    url: sharedPostgres,
    query,
    async open({ groups = true, beforeBeat, keepRows = false, ...options } = {}) {
      const url = await sharedPostgres()
      if (!keepRows) await query(EMPTY_TABLES)
      const storage = await openStorage({ url, schema: name, ...options }, { groups, beforeBeat })
      opened.push(storage)
      return storage
    },
  }
}

/** Faster than `truncate`, which makes new files for every table and index. */
const EMPTY_TABLES = `
do $$ declare emptied text; begin
  if to_regclass('events') is null then return; end if;
  for emptied in select tablename from pg_tables where schemaname = current_schema() and tablename not in ('schema_migrations', 'meta', 'events')
  loop execute format('delete from %I', emptied); end loop;
  if exists (select 1 from events) then truncate events; end if;
  update meta set value = '0' where meta.name = 'trimmed_through';
end $$`

import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, afterEach, onTestFailed } from 'vitest'
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
  /**
   * Deletes all rows and returns the storage that was opened with these options, unless a test closed it or failed.
   * Positions are not reset. Opening a storage takes ten times as long as a typical contract case.
   */
  reuse(options?: TestOptions): Promise<PostgresStorage>
  /** Executes statements in the schema, beside the storage. */
  query(text: string, values?: unknown[]): Promise<readonly Record<string, unknown>[]>
}

/** A schema of the shared server, or of the server with this URL, for one test file; dropped after its last test. */
export function createTestSchema(url: () => Promise<string> = sharedPostgres): TestSchema {
  const name = `test_${randomUUID().replaceAll('-', '').slice(0, 16)}`
  const opened: PostgresStorage[] = []
  const kept = new Map<string, PostgresStorage>()
  let connecting: Promise<pg.Client> | undefined
  const client = (): Promise<pg.Client> => {
    connecting ??= url().then(async (connectionString) => {
      const options = `-c search_path=${name} ${WITHOUT_TRIGGERS}`
      // Without `pipeline`, the driver warns of calls while a statement executes.
      const connected = new pg.Client({ connectionString, options, pipeline: true })
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
    await Promise.all([...kept.values()].map((storage) => storage.close()))
    if (connecting === undefined) return
    await query(`drop schema if exists ${name} cascade`)
    await (await client()).end()
  })

  const tables = async () => {
    const rows = await query('select tablename from pg_tables where schemaname = current_schema()')
    return rows.map(({ tablename }) => tablename as string)
  }

  let deletion: string | undefined
  const empty = async () => {
    if (deletion === undefined) {
      const found = await tables()
      if (found.length === 0) return
      deletion = deletionFrom(found.filter((table) => !KEPT_TABLES.includes(table)))
    }
    await (await client()).query({ name: 'empty', text: deletion })
  }

  const openWith = async ({
    groups = true,
    beforeBeat,
    comparesPositions = true,
    settleMs,
    lockWaitMs,
    keepRows: _,
    ...options
  }: TestOptions) =>
    openStorage(
      { url: await url(), schema: name, ...options },
      { groups, beforeBeat, comparesPositions, settleMs, lockWaitMs },
    )

  return {
    name,
    url,
    query,
    async open(options = {}) {
      if (options.keepRows !== true) await empty()
      const storage = await openWith(options)
      opened.push(storage)
      return storage
    },
    async reuse(options = {}) {
      const key = JSON.stringify(options)
      const forget = () => kept.delete(key)
      if (options.keepRows !== true) await empty()
      const storage = kept.get(key) ?? (await openWith({ ...options, comparesPositions: false }))
      kept.set(key, storage)
      onTestFailed(async () => {
        forget()
        await storage.close()
      })
      const close = () => {
        forget()
        return storage.close()
      }
      return { ...storage, close }
    },
  }
}

/** A trigger would keep the position of the newest event. */
const WITHOUT_TRIGGERS = '-c session_replication_role=replica'

/** Rows about the schema, and about the processes that use it. */
const KEPT_TABLES = ['schema_migrations', 'meta', 'nodes', 'node_groups', 'departed_nodes', 'duties']

/** One statement for all tables: it is planned once. `truncate` would make new files for every table and index. */
const deletionFrom = (tables: readonly string[]): string => {
  const deletions = tables.map((table, index) => `deletion_${index} as (delete from "${table}")`)
  return `with ${deletions.join(', ')} update meta set value = '0' where meta.name = 'trimmed_through'`
}

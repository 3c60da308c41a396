import type { Storage, StorageStatus } from '@perdure/ports'
import { sql } from 'kysely'
import { type Connection, createConnection, createQueryCache } from './connection/connection.ts'
import { isSameServer, requireSchema, requireUsableServer, translateStartError } from './connection/hello.ts'
import { applyMigrations } from './connection/migrate.ts'
import { createReadPool, type ReadPool } from './connection/read-pool.ts'
import { type ServerOptions, serverOptions } from './connection/server-options.ts'
import { openSession, type Planning, type Session } from './connection/session.ts'
import { createStores } from './create-stores.ts'
import { createHost } from './host/create-host.ts'
import { createWriter } from './host/create-writer.ts'
import type { Host } from './host/host.ts'
import type { HostCounters } from './host/host-counters.ts'
import { join } from './host/node.ts'
import { requireWhole } from './import/copy-mark.ts'
import type { PostgresStorageOptions } from './postgres-storage-options.ts'
import { compile, from } from './query/compile.ts'
import { readLogHead } from './rows/event-log.ts'

export interface PostgresStorage extends Storage {
  counters(): HostCounters
}

/** Connections that are not for reads: one for groups, one for single commits, one for the row of the node. */
const RESERVED_CONNECTIONS = 3
const SETTLE_MS = 6_000

/**
 * Opens every storage port on one schema of a PostgreSQL database. Creates and migrates the schema as needed.
 *
 * @throws StartError `config-invalid`, `storage-locked`, `storage-incomplete`, `storage-newer-schema`,
 *   `migration-failed`.
 */
export const openPostgresStorage = (options: PostgresStorageOptions): Promise<PostgresStorage> =>
  openStorage(options, { groups: true })

/** Like `openPostgresStorage`; tests can commit each commit in a transaction of its own. */
export async function openStorage(
  options: PostgresStorageOptions,
  { groups }: { readonly groups: boolean },
): Promise<PostgresStorage> {
  const { poolSize = 10, commitWaitMs = 5_000, isGuest = false, now = Date.now, onFatal } = options
  const server = serverOptions(options)
  const { schema } = server
  const cache = createQueryCache()
  const reads = createReadPool(server, poolSize - RESERVED_CONNECTIONS)
  const control = await openSession(server, { name: 'node', planning: 'default', isPatient: true }).catch(
    startFailed(reads),
  )
  try {
    const systemId = await requireUsableServer(control)
    await applyMigrations(control, { schema, now })
    await requireSchema(control, schema)
    const open = openerOf(server, { systemId, schema })
    const node = await join(control, { cache, isGuest, reopen: () => open('node', 'default') })
    await requireWhole(control.execute, schema).catch(async (error: unknown) => {
      await node.leave()
      throw error
    })
    const readFrom = createConnection(reads.execute, cache)
    const { position: knownPosition } = await readLogHead(readFrom)
    const writer = createWriter({ node, cache, open, knownPosition, settleMs: SETTLE_MS, groups })
    const close = async () => {
      await node.leave()
      await reads.close()
    }
    const host = createHost({ writer, readFrom, commitWaitMs, onFatal, close })
    return {
      ...createStores(host),
      counters: host.counters,
      status: () => statusOf(host, readFrom),
      close: host.close,
    }
  } catch (error) {
    await control.close()
    return startFailed(reads)(error)
  }
}

const startFailed =
  (reads: ReadPool) =>
  async (error: unknown): Promise<never> => {
    await reads.close()
    throw translateStartError(error)
  }

/** A connection through which this storage writes, if the server is still the one that it opened. */
const openerOf =
  (server: ServerOptions, expected: { readonly systemId: string; readonly schema: string }) =>
  async (name: string, planning: Planning): Promise<Session> => {
    const session = await openSession(server, { name, planning })
    if (await isSameServer(session, expected)) return session
    await session.close()
    throw Object.assign(new Error('the URL leads to a standby, or to another server than at the start'), {
      code: 'ENOTPRIMARY',
    })
  }

async function statusOf(host: Host, db: Connection): Promise<StorageStatus> {
  const size = await db.get(DATABASE_SIZE, {}).catch(() => undefined)
  const status = { walBytes: 0, dbBytes: size?.bytes ?? 0 }
  if (host.state() !== 'open') return { ...status, writable: false, message: 'The storage is closed or has failed.' }
  const isReachable = host.isConnected() && size !== undefined
  return isReachable
    ? { ...status, writable: true }
    : { ...status, writable: false, message: 'The database cannot be reached.' }
}

const DATABASE_SIZE = compile<object, { bytes: number }>(() => ({
  compile: () => sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`.compile(from),
}))

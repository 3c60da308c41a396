import { StartError, type Storage, type StorageStatus } from '@perdure/ports'
import { compile, createStores, eventReads, findIdempotencies, runLater } from '@perdure/storage'
import { sql } from 'kysely'
import { createLockoutStore } from './access/lockout-store.ts'
import { createTicketStore } from './access/ticket-store.ts'
import { compareMembers } from './cluster/compare-members.ts'
import { createMembership, type Membership } from './cluster/membership.ts'
import { createNodeDirectory } from './cluster/node-directory.ts'
import { type Connection, createConnection, createQueryCache, type Execute } from './connection/connection.ts'
import { followServer } from './connection/failover.ts'
import {
  type ExpectedServer,
  requireConnections,
  requireSameServer,
  requireSchema,
  requireUsableServer,
  translateStartError,
} from './connection/hello.ts'
import { applyMigrations } from './connection/migrate.ts'
import { translateError } from './connection/postgres-error.ts'
import { createReadPool, type ReadPool } from './connection/read-pool.ts'
import { openServerHistory, type ServerHistory } from './connection/server-history.ts'
import { type ServerOptions, serverOptions } from './connection/server-options.ts'
import { type ConnectionUse, openSession, type Planning, type Session } from './connection/session.ts'
import { asynchronousWarning, missingStandby, readStandbys } from './connection/standbys.ts'
import { createHost } from './host/create-host.ts'
import { createWriter } from './host/create-writer.ts'
import type { Host } from './host/host.ts'
import type { HostCounters } from './host/host-counters.ts'
import { createKeyLookup } from './host/key-lookup.ts'
import { join } from './host/node.ts'
import { requireWhole } from './import/copy-mark.ts'
import type { PostgresStorageOptions } from './postgres-storage-options.ts'
import type { NodeRole } from './query/node-schema.ts'
import { createTail } from './tail/create-tail.ts'

export interface PostgresStorage extends Storage {
  counters(): HostCounters
}

/** Connections that are not for reads: for groups, single commits, the row of the node and the tail of the log. */
const RESERVED_CONNECTIONS = 4
/** How long the outcome of a commit is looked for on a server that can be reached, and while the storage is closed. */
const SETTLE_MS = 6_000
/** A server that lacks what was acknowledged within this time before a crash is not recognized. */
const SAVE_HISTORY_MS = 1_000

/**
 * Opens every storage port on one schema of a PostgreSQL database. Creates and migrates the schema as needed.
 *
 * @throws StartError `config-invalid`, `database-unavailable`, `storage-locked`, `storage-incomplete`, `storage-newer-schema`,
 *   `migration-failed`.
 */
export const openPostgresStorage = (options: PostgresStorageOptions): Promise<PostgresStorage> =>
  openStorage(options, { groups: true })

/** What only tests change. */
export interface InternalOptions {
  /** Whether commits share transactions. */
  readonly groups: boolean
  /** Called before each renewal of the lease. */
  readonly beforeBeat?: (() => Promise<void>) | undefined
  /** Whether a server that lacks acknowledged events is refused. */
  readonly comparesPositions?: boolean
  readonly settleMs?: number | undefined
  readonly lockWaitMs?: number | undefined
}

/** Like `openPostgresStorage`; tests can commit each commit in a transaction of its own, and hold up a lease. */
export async function openStorage(
  options: PostgresStorageOptions,
  { groups, beforeBeat, comparesPositions = true, settleMs = SETTLE_MS, lockWaitMs }: InternalOptions,
): Promise<PostgresStorage> {
  const { poolSize = 10, commitWaitMs = 5_000, leaseMs = 6_000, isGuest = false } = options
  const { now = Date.now, onFatal, onWarning } = options
  const server = serverOptions(options)
  const { schema } = server
  const cache = createQueryCache()
  const control = await openSession(server, { name: 'node', planning: 'default', isPatient: true }).catch(startFailed)
  let reads: ReadPool | undefined
  try {
    const systemId = await requireUsableServer(control)
    if (!isGuest) await requireConnections(control, poolSize)
    const opened = await applyMigrations(control, { schema, now })
    await requireSchema(control, schema)
    options.onOpened?.(opened)
    const history = await openServerHistory({ path: options.historyPath, comparesPositions, onWarning })
    await requireNewestServer(control, history)
    const expected = { systemId, schema, history }
    const pool = createReadPool(server, poolSize - RESERVED_CONNECTIONS, expected)
    reads = pool
    const openSame = openerOf(server, { expected, onWarning })
    const open = (name: string, planning: Planning) => openSame({ name, planning })
    const role = roleOf(options)
    const { identity, signal } = options
    const node = await join(control, {
      ...{ cache, role, leaseMs, identity, lockWaitMs, onWarning, signal },
      reopen: () => open('node', 'default'),
    })
    const check = async () => {
      await requireWhole(control.execute, schema)
      if (role !== 'member' || identity === undefined) return
      for (const text of await compareMembers(node.control(), { id: node.id, ...identity })) onWarning?.(text)
    }
    await check().catch(async (error: unknown) => {
      await node.leave()
      throw error
    })
    await followServer(control)
    await history.accept(control.execute, control)
    const warning = asynchronousWarning(await readStandbys(control.execute))
    if (warning !== undefined && !isGuest) onWarning?.(warning)
    const readFrom = createConnection(withTranslatedErrors(pool.execute), cache, pool.copy)
    const { position: knownPosition } = await runLater(eventReads.head(readFrom.db))
    const writer = createWriter({ node, cache, open, knownPosition, settleMs, groups })
    const direct = { ...server, url: options.listenUrl ?? server.url }
    const openTail = openerOf(direct, { expected, onWarning: undefined })
    const tail = createTail({
      ...{ cache, knownPosition, channel: `perdure_${schema}`, listens: options.listen ?? true },
      open: (onNotification) => openTail({ name: 'tail', planning: 'default', onNotification }),
      underWay: writer.underWay,
    })
    const onCommitted: typeof tail.committed = (events) => {
      const newest = events.at(-1)
      if (newest !== undefined) history.acknowledged(newest)
      tail.committed(events)
    }
    const saving = setInterval(history.save, SAVE_HISTORY_MS).unref()
    let cluster: Membership | undefined
    const close = async () => {
      await tail.close()
      await cluster?.stop()
      await node.leave()
      await pool.close()
      clearInterval(saving)
      await history.save()
    }
    const host = createHost({ writer, readFrom, commitWaitMs, onFatal, close, now, onCommitted })
    if (role === 'member') {
      cluster = await createMembership({
        node,
        db: readFrom,
        leaseMs,
        onLeaseLost: host.fail,
        beforeBeat,
        now,
        onWarning,
      })
    }
    return {
      ...createStores(host, {
        find: createKeyLookup((ids, now) => host.read(findIdempotencies, { ids, now })),
      }),
      ...(cluster && { cluster, nodes: createNodeDirectory(readFrom, cluster) }),
      tail: { follow: tail.follow, state: tail.state },
      tickets: createTicketStore(readFrom),
      lockouts: createLockoutStore(readFrom),
      counters: host.counters,
      status: () =>
        statusOf(host, readFrom, { reads: pool, history, requireSyncStandby: options.requireSyncStandby === true }),
      close: host.close,
    }
  } catch (error) {
    await control.close()
    await reads?.close()
    return startFailed(error)
  }
}

const roleOf = ({ isGuest, cluster }: PostgresStorageOptions): NodeRole => {
  if (isGuest === true) return 'guest'
  return cluster === true ? 'member' : 'sole'
}

/** @throws StartError `database-unavailable` */
async function requireNewestServer(session: Session, history: ServerHistory): Promise<void> {
  try {
    await history.accept(session.execute, session)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOTPRIMARY') throw cause
    throw new StartError('database-unavailable', {
      message: `The database cannot be used: ${(cause as Error).message}.`,
      hint: 'Use a URL that leads to the current primary. If this server is to be used nevertheless, delete the file with the extension .history in the folder of storage.path.',
      cause,
    })
  }
}

/** Callers of the ports get no error of the driver. */
const withTranslatedErrors =
  (execute: Execute): Execute =>
  async (statement) => {
    try {
      return await execute(statement)
    } catch (error) {
      throw translateError(error)
    }
  }

const startFailed = (error: unknown): never => {
  throw translateStartError(error)
}

interface OpenerParts {
  readonly expected: ExpectedServer & { readonly history: ServerHistory }
  readonly onWarning: PostgresStorageOptions['onWarning']
}

/** A connection of this storage, if the server is still the one that it opened. */
const openerOf =
  (server: ServerOptions, { expected, onWarning }: OpenerParts) =>
  async (use: ConnectionUse): Promise<Session> => {
    const session = await openSession(server, { ...use, onWarning })
    try {
      const { history } = expected
      await requireSameServer(session.execute, expected)
      await history.requireSuccessor(session.execute)
      await followServer(session)
      await history.accept(session.execute, session)
      return session
    } catch (error) {
      await session.close()
      throw error
    }
  }

interface StatusParts {
  readonly history: ServerHistory
  readonly reads: ReadPool
  readonly requireSyncStandby: boolean
}

async function statusOf(
  host: Host,
  db: Connection,
  { reads, history, requireSyncStandby }: StatusParts,
): Promise<StorageStatus> {
  const size = await db.get(DATABASE_SIZE, {}).catch(() => undefined)
  const { writes, transactions, unanswered, retriesByCode } = host.counters()
  const server = {
    ...{ connections: reads.counts(), commits: writes, transactions },
    ...{ unknownCommits: unanswered, retries: retriesByCode, refusedConnections: history.refused() },
  }
  const status = { walBytes: 0, dbBytes: size?.bytes ?? 0, server }
  if (host.state() !== 'open') return { ...status, writable: false, message: 'The storage is closed or has failed.' }
  const isReachable = host.isConnected() && size !== undefined
  const problem = history.problem()
  if (problem !== undefined) return { ...status, writable: false, message: `${problem}.` }
  if (!isReachable) return { ...status, writable: false, message: 'The database cannot be reached.' }
  const missing = requireSyncStandby ? missingStandby(await readStandbys(reads.execute)) : undefined
  return missing === undefined ? { ...status, writable: true } : { ...status, writable: false, message: missing }
}

const DATABASE_SIZE = compile<object, { bytes: number }>(
  () => sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`,
)

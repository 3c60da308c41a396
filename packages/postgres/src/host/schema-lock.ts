import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from '@perdure/ports'
import { compile } from '@perdure/storage'
import { sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import type { NodeRole } from '../query/node-schema.ts'

/**
 * Longer than the database needs to notice that the machine of a session is gone (`KEEPALIVES`), and to release what the
 * session has locked.
 */
export const LOCK_WAIT_MS = 30_000
/** How often a process that holds the lock shows that it lives. */
export const SIGN_OF_LIFE_MS = 2_000
const PAUSE_MS = 250

export interface LockWait {
  readonly waitMs: number
  readonly onWarning?: ((message: string) => void) | undefined
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined
}

/** Returns whether this session holds the lock of the schema from now on: alone, or with other members. */
export const takeSchemaLock = async (db: Connection, role: NodeRole): Promise<boolean> =>
  (await db.get(role === 'member' ? SHARE_LOCK : TAKE_SOLE_LOCK, {}))?.taken === true

/**
 * Takes the lock of the schema. If other sessions hold it, waits until one of them shows a sign of life, or the database has
 * ended all of them: the session of a process that was killed, or whose network was cut, outlives the process.
 *
 * @throws StartError `storage-locked` if a process that lives holds the lock; `database-unavailable` if it is not known
 *   after `waitMs` whether one does; `AbortError` once `signal` aborts
 */
export async function awaitSchemaLock(db: Connection, role: NodeRole, wait: LockWait): Promise<void> {
  const { waitMs, onWarning, signal } = wait
  const until = performance.now() + waitMs
  const lastSeen = new Map<number, string>()
  while (!(await takeSchemaLock(db, role))) {
    const holders = await db.all(SELECT_HOLDERS, {})
    if (holders.some(({ pid, changedAt }) => (lastSeen.get(pid) ?? changedAt) !== changedAt)) throw lockedError(role)
    if (performance.now() > until) throw heldError(holders, waitMs)
    if (lastSeen.size === 0) onWarning?.(waitingFor(holders, waitMs))
    for (const { pid, changedAt } of holders) lastSeen.set(pid, changedAt)
    await sleep(Math.min(PAUSE_MS, waitMs), undefined, { signal })
  }
}

/** Executes a statement, which the database records as the last one of the session. */
export const showSignOfLife = (db: Connection): Promise<unknown> => db.get(SIGN_OF_LIFE, {})

export const lockedError = (role: NodeRole): StartError =>
  role === 'member'
    ? new StartError('storage-locked', {
        message: 'A server without storage.cluster uses this schema of the PostgreSQL database.',
        hint: 'Stop that server, or set storage.cluster to true in its configuration and restart it.',
      })
    : new StartError('storage-locked', {
        message: 'Another process uses this schema of the PostgreSQL database.',
        hint: 'Stop the other server, set storage.schema to a different name, or set storage.cluster to true for all servers of the schema.',
      })

interface Holder {
  readonly pid: number
  readonly address: string
  /** When the state of the session changed last; empty if this role may not read it. */
  readonly changedAt: string
}

const sessionsOf = (holders: readonly Holder[]): string =>
  holders.map(({ pid, address }) => `${pid} (from ${address})`).join(', ') || 'unknown'

const waitingFor = (holders: readonly Holder[], waitMs: number): string =>
  `another session of the database holds the lock of the schema: ${sessionsOf(holders)}. Waiting up to ${waitMs / 1_000} s for the database to end it, unless its process shows a sign of life`

const heldError = (holders: readonly Holder[], waitMs: number): StartError =>
  new StartError('database-unavailable', {
    message: `The PostgreSQL database still holds the lock of the schema for another session: ${sessionsOf(holders)}. Its process has shown no sign of life for ${waitMs / 1_000} s.`,
    hint: `If that process has ended, start again: the database ends the session once it notices. To end it now, execute: ${holders.map(({ pid }) => `select pg_terminate_backend(${pid});`).join(' ')}`,
  })

/** The first key of the advisory lock of a schema; the second is the hash of the schema. */
const SCHEMA_LOCK = 0x62_65_72_73

const lockWith = (attempt: string) =>
  compile<object, { taken: boolean }>(
    () =>
      sql<{
        taken: boolean
      }>`select ${sql.raw(attempt)}(${sql.lit(SCHEMA_LOCK)}, hashtext(current_schema())) as taken`,
  )

const TAKE_SOLE_LOCK = lockWith('pg_try_advisory_lock')
const SHARE_LOCK = lockWith('pg_try_advisory_lock_shared')

/** The sessions that hold the lock. The second key is an oid, which has no sign. */
const SELECT_HOLDERS = compile<object, Holder>(
  () => sql<Holder>`select a.pid, coalesce(host(a.client_addr), 'this machine') as address,
      coalesce(a.state_change::text, '') as "changedAt"
      from pg_locks as l join pg_stat_activity as a on a.pid = l.pid
      where l.locktype = 'advisory' and l.granted and l.objsubid = 2 and a.datname = current_database()
        and l.database = a.datid and l.classid::bigint = ${sql.lit(SCHEMA_LOCK)}
        and l.objid::bigint = hashtext(current_schema())::bigint & 4294967295`,
)

const SIGN_OF_LIFE = compile<object, { one: number }>(() => sql<{ one: number }>`select 1 as one`)

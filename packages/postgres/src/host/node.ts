import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { MAX_CLOCK_SKEW_MS, type NodeIdentity, StartError } from '@perdure/ports'
import { compile } from '@perdure/storage'
import { type RawBuilder, sql } from 'kysely'
import { type Connection, createConnection, type QueryCache } from '../connection/connection.ts'
import { kindOf } from '../connection/postgres-error.ts'
import type { Session } from '../connection/session.ts'
import { MIGRATIONS } from '../migrations/migrations.ts'
import { from } from '../query/compile.ts'
import type { NodeGroupTable, NodeRole } from '../query/node-schema.ts'
import { awaitSchemaLock, LOCK_WAIT_MS, SIGN_OF_LIFE_MS, showSignOfLife, takeSchemaLock } from './schema-lock.ts'

/** This process as a writer of the database. Its row is the right to write. */
export interface Node {
  readonly id: string
  /** The connection that holds the lock of the node. */
  control(): Connection
  /** Takes the lock again if the session that held it was lost. */
  renew(): Promise<void>
  /** Closes the session, so that `renew` opens another one. */
  drop(): Promise<void>
  /** Deletes the row of the node and ends its session. */
  leave(): Promise<void>
}

export interface JoinOptions {
  readonly cache: QueryCache
  readonly role: NodeRole
  /** How long the lease of a member lasts. */
  readonly leaseMs: number
  /** What other members learn about this one. */
  readonly identity?: NodeIdentity | undefined
  /** How long a lock is waited for that another session holds; 30 seconds when missing. Milliseconds. */
  readonly lockWaitMs?: number | undefined
  readonly onWarning?: ((message: string) => void) | undefined
  /** Ends the wait for other sessions. */
  readonly signal?: AbortSignal | undefined
  /** Opens another session to the same server. */
  readonly reopen: () => Promise<Session>
}

/**
 * Adds the row of this process. Either one process owns a schema, or members share it: the owner holds an advisory lock
 * for as long as its session lives, and the members hold the same lock in shared mode. An owner deletes the rows of all
 * other processes, and a member that of an owner, so that a process that lost its session writes nothing more. The
 * deletion waits for the transactions of these processes that are in progress.
 *
 * @throws StartError what `awaitSchemaLock` throws; `clock-skew` for a member whose clock is wrong
 */
export async function join(session: Session, options: JoinOptions): Promise<Node> {
  const { cache, role, leaseMs, identity = UNKNOWN, reopen, lockWaitMs: waitMs = LOCK_WAIT_MS } = options
  const { onWarning, signal } = options
  let control = session
  let renewing: Promise<void> | undefined
  const db = () => createConnection(control.execute, cache)
  const id = randomUUID()
  if (role !== 'guest') await awaitSchemaLock(db(), role, { waitMs, onWarning, signal })
  if (role === 'member') await requireSameClock(db())
  if (role !== 'guest') await deleteNodes(db(), role, signal)
  await db().run(INSERT_NODE, { id, name: `${hostname()} ${process.pid}`, role, leaseMs, ...columnsOf(identity) })

  const reconnect = async () => {
    control = await reopen()
    // Another process that has the lock by now has also deleted the row of this node.
    if (role !== 'guest') await takeSchemaLock(db(), role)
  }

  /** Shows processes that wait for the lock that this one lives, as the renewals of a lease do. */
  let isShowing = false
  const show = async () => {
    if (isShowing || control.isLost()) return
    isShowing = true
    await showSignOfLife(db()).catch(() => undefined)
    isShowing = false
  }
  const showing = role === 'sole' ? setInterval(show, SIGN_OF_LIFE_MS).unref() : undefined

  return {
    id,
    control: db,
    async renew() {
      if (!control.isLost()) return
      renewing ??= reconnect().finally(() => {
        renewing = undefined
      })
      await renewing
    },
    drop: () => control.close(),
    async leave() {
      clearInterval(showing)
      await db()
        .run(role === 'member' ? DEPART : DELETE_NODE, { id })
        .catch(() => undefined)
      await control.close()
    },
  }
}

interface ComparedClocks {
  readonly sentAt: number
  readonly receivedAt: number
  /** The clock of the server, read in between. */
  readonly serverAt: number
}

/** By how many milliseconds the clock of this machine is at least ahead of that of the server; negative: behind it. */
export function skewOf({ sentAt, receivedAt, serverAt }: ComparedClocks): number {
  if (serverAt < sentAt) return sentAt - serverAt
  return Math.min(0, receivedAt - serverAt)
}

/** Start times and deadlines are compared with the clocks of all members. @throws StartError `clock-skew` */
async function requireSameClock(db: Connection): Promise<void> {
  const sentAt = Date.now()
  const serverAt = (await db.get(READ_CLOCK, {}))?.now ?? sentAt
  const skewMs = -skewOf({ sentAt, receivedAt: Date.now(), serverAt })
  if (Math.abs(skewMs) <= MAX_CLOCK_SKEW_MS) return
  throw new StartError('clock-skew', {
    message: `The clock of this machine is ${(Math.abs(skewMs) / 1_000).toFixed(1)} s ${skewMs > 0 ? 'behind' : 'ahead of'} the clock of the database server; at most ${MAX_CLOCK_SKEW_MS / 1_000} s are allowed.`,
    hint: 'Synchronize both clocks, for example with NTP, and start again.',
  })
}

/** Within this time, the transaction of a dead process ends, or the database ends its session. */
const LAST_COMMIT_MS = 30_000
const PAUSE_MS = 100

async function deleteNodes(db: Connection, role: NodeRole, signal: AbortSignal | undefined): Promise<void> {
  const until = performance.now() + LAST_COMMIT_MS
  for (;;) {
    try {
      if (role === 'member') return void (await db.run(DELETE_SOLE_NODES, {}))
      for (const statement of DELETE_ALL) await db.run(statement, {})
      return
    } catch (error) {
      if (kindOf(error) !== 'contended' || performance.now() > until) throw error
      // This process holds the lock of the schema alone, so these sessions belong to killed servers.
      if (role === 'sole') await db.run(END_OLD_COMMITS, {}).catch(() => undefined)
      await sleep(PAUSE_MS, undefined, { signal })
    }
  }
}

/** Keeps the row of the node from being deleted until the transaction ends, and reads it: no row, no right to write. */
export const HOLD_NODE = compile<{ node: string }, { id: string }>((param) =>
  from.selectFrom('nodes').select('id').where('id', '=', param('node')).forKeyShare(),
)

/**
 * Records that a transaction of the node is committed. A transaction whose commit was not answered is settled by
 * claiming its number: of two insertions of one number, the second fails or does nothing.
 */
export const INSERT_MARKER = compile<Marker, unknown>((param) =>
  marker(param('node'), param('number'), sql`null::bigint`),
)

export interface Marker {
  readonly node: string
  readonly number: number
}

/** What the marker of a committed transaction tells. */
export type StoredMarker = Pick<NodeGroupTable, 'first_position' | 'completed'>

const marker = (node: RawBuilder<string>, number: RawBuilder<number>, firstPosition: RawBuilder<unknown>) =>
  sql`insert into node_groups (node, number, first_position) values (${node}, ${number}, ${firstPosition})`

/** Claims nothing for a node whose row is gone: its markers may be deleted as well. */
export const CLAIM_MARKER = compile<Marker, unknown>(
  (param) => sql`insert into node_groups (node, number) select ${param('node')}::text, ${param('number')}::bigint
      where exists (select from nodes where id = ${param('node')}::text) on conflict do nothing`,
)

export const FIND_MARKER = compile<Marker, StoredMarker>((param) =>
  from
    .selectFrom('node_groups')
    .select(['first_position', 'completed'])
    .where('node', '=', param('node'))
    .where('number', '=', param('number')),
)

/** Markers of older transactions are never looked for. */
export const PRUNE_MARKERS = compile<Marker, unknown>((param) =>
  from.deleteFrom('node_groups').where('node', '=', param('node')).where('number', '<', param('number')),
)

const READ_CLOCK = compile<object, { now: number }>(
  () => sql<{ now: number }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as now`,
)

const DELETE_SOLE_NODES = compile<object, unknown>(() => from.deleteFrom('nodes').where('role', '=', 'sole'))

/** A command beside a server that commits for so long sends its commit again. The server shortens long names. */
const END_OLD_COMMITS = compile<object, unknown>(
  () => sql`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name in (left('perdure groups ' || current_schema(), 63), left('perdure commits ' || current_schema(), 63))
        and datname = current_database() and xact_start < clock_timestamp() - interval '5 seconds'`,
)

const DELETE_ALL = [
  compile<object, unknown>(() => from.deleteFrom('nodes')),
  compile<object, unknown>(() => from.deleteFrom('node_groups')),
  compile<object, unknown>(() => from.deleteFrom('departed_nodes')),
  compile<object, unknown>(() => from.deleteFrom('duties')),
]

interface NewNode extends ReturnType<typeof columnsOf> {
  readonly id: string
  readonly name: string
  readonly role: NodeRole
  readonly leaseMs: number
}

const UNKNOWN: NodeIdentity = { version: 'unknown', peppers: [], settings: {}, targets: [], declares: [] }

const columnsOf = ({ version, peppers, settings, targets, declares }: NodeIdentity) => ({
  ...{ version, schemaVersion: MIGRATIONS.length, peppers, targets, declares },
  settings: JSON.stringify(settings),
})

const INSERT_NODE = compile<NewNode, unknown>(
  (
    param,
  ) => sql`insert into nodes (id, name, role, version, schema_version, peppers, settings, targets, declares, lease_until)
      values (${param('id')}, ${param('name')}, ${param('role')}, ${param('version')}, ${param('schemaVersion')},
        ${param('peppers')}::text[], ${param('settings')}, ${param('targets')}::text[], ${param('declares')}::text[],
        case when ${param('role')} = 'member' then ${leaseEnd(param('leaseMs'))} end)`,
)

/** The end of a lease that begins now, by the clock of the database. */
export const leaseEnd = (leaseMs: RawBuilder<number>) =>
  sql<Date>`clock_timestamp() + ${leaseMs}::bigint * interval '1 millisecond'`

const DELETE_NODE = compile<{ id: string }, unknown>((param) => from.deleteFrom('nodes').where('id', '=', param('id')))

/** Deletes the row of a member and names the member in \`departed_nodes\`. */
const DEPART = compile<{ id: string }, unknown>(
  (param) => sql`with gone as (delete from nodes where id = ${param('id')} returning id)
      insert into departed_nodes (id) select id from gone`,
)

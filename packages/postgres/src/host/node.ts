import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { StartError } from '@perdure/ports'
import { type RawBuilder, sql } from 'kysely'
import { type Connection, createConnection, type QueryCache } from '../connection/connection.ts'
import type { Session } from '../connection/session.ts'
import { compile, from } from '../query/compile.ts'
import type { NodeGroupTable } from '../query/schema.ts'

/** This process as a writer of the database. Its row is the right to write. */
export interface Node {
  readonly id: string
  /** Takes the lock again if the session that held it was lost. */
  renew(): Promise<void>
  /** Deletes the row of the node and ends its session. */
  leave(): Promise<void>
}

export interface JoinOptions {
  readonly cache: QueryCache
  /** Whether another process owns the schema: a command that creates a token, beside a server. */
  readonly isGuest: boolean
  /** Opens another session to the same server. */
  readonly reopen: () => Promise<Session>
}

/**
 * Adds the row of this process. One process at a time owns a schema: it holds a lock for as long as its session lives. It
 * deletes the rows of other processes, so that a process that lost its session writes nothing more.
 *
 * @throws StartError `storage-locked` if another process holds the lock.
 */
export async function join(session: Session, { cache, isGuest, reopen }: JoinOptions): Promise<Node> {
  let control = session
  const db = () => createConnection(control.execute, cache)
  const takeLock = async () => isGuest || takeSoleLock(db())
  const id = randomUUID()
  if (!(await takeLock())) throw lockedError()
  if (!isGuest) {
    await db().run(DELETE_NODES, {})
    await db().run(DELETE_GROUPS, {})
  }
  await db().run(INSERT_NODE, { id, name: `${hostname()} ${process.pid}` })
  return {
    id,
    async renew() {
      if (!control.isLost()) return
      control = await reopen()
      // Another process that has the lock by now has also deleted the row of this node.
      await takeLock()
    },
    async leave() {
      await db()
        .run(DELETE_NODE, { id })
        .catch(() => undefined)
      await control.close()
    },
  }
}

/** Returns whether this session owns the schema from now on. */
export const takeSoleLock = async (db: Connection): Promise<boolean> =>
  (await db.get(TAKE_SOLE_LOCK, {}))?.taken === true

/** Keeps the row of the node from being deleted until the transaction ends, and reads it: no row, no right to write. */
export const HOLD_NODE = compile<{ node: string }, { id: string }>((param) =>
  from.selectFrom('nodes').select('id').where('id', '=', param('node')).forKeyShare(),
)

/**
 * Records that a transaction of the node is committed. A transaction whose commit was not answered is settled by
 * claiming its number: of two insertions of one number, the second fails or does nothing.
 */
export const INSERT_MARKER = compile<Marker, unknown>((param) => ({
  compile: () => marker(param('node'), param('number'), sql`null::bigint`).compile(from),
}))

export interface Marker {
  readonly node: string
  readonly number: number
}

/** What the marker of a committed transaction tells. */
export type StoredMarker = Pick<NodeGroupTable, 'first_position' | 'completed'>

const marker = (node: RawBuilder<string>, number: RawBuilder<number>, firstPosition: RawBuilder<unknown>) =>
  sql`insert into node_groups (node, number, first_position) values (${node}, ${number}, ${firstPosition})`

export const CLAIM_MARKER = compile<Marker, unknown>((param) => ({
  compile: () => sql`${marker(param('node'), param('number'), sql`null::bigint`)} on conflict do nothing`.compile(from),
}))

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

/** The first key of the advisory lock of the only node; the second is the hash of the schema. */
const SOLE_LOCK = 0x62_65_72_73

const TAKE_SOLE_LOCK = compile<object, { taken: boolean }>(() => ({
  compile: () =>
    sql<{
      taken: boolean
    }>`select pg_try_advisory_lock(${sql.lit(SOLE_LOCK)}, hashtext(current_schema())) as taken`.compile(from),
}))

const DELETE_NODES = compile<object, unknown>(() => from.deleteFrom('nodes'))
const DELETE_GROUPS = compile<object, unknown>(() => from.deleteFrom('node_groups'))

const INSERT_NODE = compile<{ id: string; name: string }, unknown>((param) =>
  from.insertInto('nodes').values({ id: param('id'), name: param('name') }),
)

const DELETE_NODE = compile<{ id: string }, unknown>((param) => from.deleteFrom('nodes').where('id', '=', param('id')))

export const lockedError = (): StartError =>
  new StartError('storage-locked', {
    message: 'Another process uses this schema of the PostgreSQL database.',
    hint: 'Stop the other server, or set storage.schema to a different name.',
  })

import type { EpochMs, TailedEvent, WatchedStreams } from '@perdure/ports'
import { compile, toEventPayload } from '@perdure/storage'
import { sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { from } from '../query/compile.ts'
import type { EventTable } from '../query/own-tables.ts'

/** Events that are read at once. */
export const TAIL_LIMIT = 500

/** A longer payload is read by those who need it. */
const MAX_PAYLOAD_BYTES = 16_384

/** With more streams, the payloads of all events are read. */
const MAX_WATCHED = 1_000

type TailRow = Omit<EventTable, 'payload'> & { readonly payload: string | null }

interface TailValues extends WatchedStreams {
  readonly after: number
  readonly all: boolean
}

/** The events behind a position, oldest first; with the payloads of watched streams. */
export async function readTail(
  db: Connection,
  { after, watched }: { readonly after: number; readonly watched: WatchedStreams },
): Promise<readonly TailedEvent[]> {
  const { runIds, sessionIds, topics } = watched
  const all = runIds.length + sessionIds.length + topics.length > MAX_WATCHED
  const streams = all ? NO_STREAMS : watched
  return (await db.all(READ_TAIL, { ...streams, after, all })).map(toEvent)
}

const NO_STREAMS: WatchedStreams = { runIds: [], sessionIds: [], topics: [] }

/** The position of the newest event. */
export const readHead = async (db: Connection): Promise<number> => (await db.get(SELECT_NEWEST, {}))?.position ?? 0

/** Whether other processes have joined. */
export const readIsAlone = async (db: Connection): Promise<boolean> => (await db.get(COUNT_NODES, {}))?.count === 1

const READ_TAIL = compile<TailValues, TailRow>(
  (param) => sql<TailRow>`select position, run_id, session_id, topic, type, phase, at,
        case when octet_length(payload) <= ${sql.lit(MAX_PAYLOAD_BYTES)} and (${param('all')}::boolean
          or run_id = any(${param('runIds')}::text[]) or session_id = any(${param('sessionIds')}::text[])
          or topic = any(${param('topics')}::text[])) then payload end as payload
      from events where position > ${param('after')} order by position limit ${sql.lit(TAIL_LIMIT)}`,
)

const SELECT_NEWEST = compile<object, { position: number | null }>(() =>
  from.selectFrom('events').select((eb) => eb.fn.max('position').as('position')),
)

const COUNT_NODES = compile<object, { count: number }>(() =>
  from.selectFrom('nodes').select((eb) => eb.fn.countAll<number>().as('count')),
)

const toEvent = (row: TailRow): TailedEvent => ({
  position: row.position,
  runId: row.run_id ?? undefined,
  sessionId: row.session_id ?? undefined,
  topic: row.topic ?? undefined,
  type: row.type,
  payload: row.payload === null ? undefined : toEventPayload(row.type, row.payload),
  phase: row.phase ?? undefined,
  at: row.at as EpochMs,
})

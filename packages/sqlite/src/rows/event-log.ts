import type { EpochMs, EventRange, EventStream, JsonText, LogHead, StoredEvent } from '@perdure/ports'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Connection } from './connection.ts'
import { readMeta } from './meta.ts'
import { compile, from, type Place, type Query } from './query.ts'
import type { EventTable } from './schema.ts'

export interface EventsBefore {
  readonly before: number
  readonly limit: number
}

export interface EventsBetween {
  readonly after: number
  readonly through: number
}

export function readEvents(db: Connection, { stream, range }: { stream: EventStream; range: EventRange }) {
  const [carrier, id] = carrierOf(stream)
  const { after: position, limit, maxLength = Number.POSITIVE_INFINITY } = range
  const events: StoredEvent[] = []
  let length = 0
  for (const row of db.each(READ_AFTER[carrier], { id, position, limit })) {
    events.push(toRecord(row))
    length += row.payload.length
    if (length >= maxLength) break
  }
  return events
}

export function readEventsBefore(db: Connection, { stream, range }: { stream: EventStream; range: EventsBefore }) {
  const [carrier, id] = carrierOf(stream)
  return db.all(READ_BEFORE[carrier], { id, position: range.before, limit: range.limit }).map(toRecord)
}

export function countEvents(db: Connection, { stream, range }: { stream: EventStream; range: EventsBetween }): number {
  const [carrier, id] = carrierOf(stream)
  return db.get(COUNT[carrier], { id, ...range })?.count ?? 0
}

export const readLogHead = (db: Connection): LogHead => ({
  epoch: readMeta(db, 'epoch'),
  position: db.get(selectHead, {})?.position ?? 0,
  trimmedThrough: Number(readMeta(db, 'trimmed_through')),
})

type Carrier = 'run' | 'session' | 'topic'

interface StreamId {
  readonly id: string
}

interface StreamValues extends StreamId {
  readonly position: number
  readonly limit: number
}

type EventRow = Omit<EventTable, 'position' | 'run_key'> & { readonly position: number; readonly run_id: string | null }

const isCarriedBy: Record<Carrier, (place: Place<StreamId>) => RawBuilder<SqlBool>> = {
  run: (place) => sql`run_key = (select key from run_keys where run_id = ${place('id')})`,
  session: (place) => sql`session_id = ${place('id')}`,
  topic: (place) => sql`topic = ${place('id')}`,
}

const selectStream = (
  carrier: Carrier,
  [operator, order]: ['>', 'asc'] | ['<', 'desc'],
): Query<StreamValues, EventRow> =>
  compile((place) =>
    from
      .selectFrom('events')
      .leftJoin('run_keys', 'run_keys.key', 'events.run_key')
      .select(['position', 'run_id', 'session_id', 'topic', 'type', 'phase', 'at', 'payload'])
      .where(isCarriedBy[carrier](place))
      .where('position', operator, place('position'))
      .orderBy('position', order)
      .limit(place('limit')),
  )

export const READ_AFTER = {
  run: selectStream('run', ['>', 'asc']),
  session: selectStream('session', ['>', 'asc']),
  topic: selectStream('topic', ['>', 'asc']),
}

export const READ_BEFORE = {
  run: selectStream('run', ['<', 'desc']),
  session: selectStream('session', ['<', 'desc']),
  topic: selectStream('topic', ['<', 'desc']),
}

const countStream = (carrier: Carrier): Query<StreamId & EventsBetween, { count: number }> =>
  compile((place) =>
    from
      .selectFrom('events')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where(isCarriedBy[carrier](place))
      .where('position', '>', place('after'))
      .where('position', '<=', place('through')),
  )

export const COUNT = { run: countStream('run'), session: countStream('session'), topic: countStream('topic') }

/** Of the newest event, or of what is left of it: retention never lets a position be given twice. */
const selectHead = compile<object, { position: number | null }>(() =>
  from.selectFrom('events').select((eb) => eb.fn.max('position').as('position')),
)

function carrierOf(stream: EventStream): readonly [carrier: Carrier, id: string] {
  if ('runId' in stream) return ['run', stream.runId]
  return 'sessionId' in stream ? ['session', stream.sessionId] : ['topic', stream.topic]
}

const toRecord = (row: EventRow): StoredEvent => ({
  position: row.position,
  runId: row.run_id ?? undefined,
  sessionId: row.session_id ?? undefined,
  topic: row.topic ?? undefined,
  type: row.type,
  payload: row.payload as JsonText,
  phase: row.phase ?? undefined,
  at: row.at as EpochMs,
})

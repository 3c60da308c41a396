import {
  type EpochMs,
  type EventRange,
  type EventStream,
  type LogHead,
  type LogScan,
  MAX_SCANNED,
  type StoredEvent,
} from '@perdure/ports'
import { type Param, type Query, toEventPayload } from '@perdure/sql'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Connection } from '../file/connection.ts'
import { compile, from } from '../query/compile.ts'
import type { EventTable } from '../query/schema.ts'
import { readMeta } from './meta.ts'

export interface EventsBefore {
  readonly before: number
  readonly limit: number
  readonly maxLength?: number | undefined
}

export interface EventsBetween {
  readonly after: number
  readonly through: number
}

export function readEvents(db: Connection, { stream, range }: { stream: EventStream; range: EventRange }) {
  const [kind, id] = streamKindOf(stream)
  const { after: position, limit, maxLength } = range
  return untilLength(db.each(READ_AFTER[kind], { id, position, limit }), maxLength)
}

export function readEventsBefore(db: Connection, { stream, range }: { stream: EventStream; range: EventsBefore }) {
  const [kind, id] = streamKindOf(stream)
  const { before: position, limit, maxLength } = range
  return untilLength(db.each(READ_BEFORE[kind], { id, position, limit }), maxLength)
}

function untilLength(rows: Iterable<EventRow>, maxLength = Number.POSITIVE_INFINITY): readonly StoredEvent[] {
  const events: StoredEvent[] = []
  let length = 0
  for (const row of rows) {
    events.push(toRecord(row))
    length += row.payload.length
    if (length >= maxLength) break
  }
  return events
}

export function countEvents(db: Connection, { stream, range }: { stream: EventStream; range: EventsBetween }): number {
  const [kind, id] = streamKindOf(stream)
  return db.get(COUNT[kind], { id, ...range })?.count ?? 0
}

export const readLogHead = (db: Connection): LogHead => ({
  epoch: readMeta(db, 'epoch'),
  position: db.get(selectHead, {})?.position ?? 0,
  trimmedThrough: Number(readMeta(db, 'trimmed_through')),
})

/** The head is read first: events that are appended in between belong to the next scan. */
export function scanEvents(db: Connection, { types, range }: { types: readonly string[]; range: EventRange }): LogScan {
  const { after, limit, maxLength } = range
  const through = Math.max(after, Math.min(db.get(selectHead, {})?.position ?? 0, after + MAX_SCANNED))
  const rows = db.each(SCAN, { types: JSON.stringify(types), after, through, limit: limit + 1 })
  const { events, isWhole } = scanned(rows, limit, maxLength)
  return { events, through: isWhole ? through : (events.at(-1)?.position ?? through) }
}

/** `isWhole` if no row follows the events. */
function scanned(rows: Iterable<EventRow>, limit: number, maxLength = Number.POSITIVE_INFINITY) {
  const events: StoredEvent[] = []
  let length = 0
  for (const row of rows) {
    if (events.length === limit || length >= maxLength) return { events, isWhole: false }
    events.push(toRecord(row))
    length += row.payload.length
  }
  return { events, isWhole: true }
}

type StreamKind = 'run' | 'session' | 'topic'

interface StreamId {
  readonly id: string
}

interface StreamValues extends StreamId {
  readonly position: number
  readonly limit: number
}

type EventRow = Omit<EventTable, 'position' | 'run_key'> & { readonly position: number; readonly run_id: string | null }

const isInStream: Record<StreamKind, (param: Param<StreamId>) => RawBuilder<SqlBool>> = {
  run: (param) => sql`run_key = (select key from run_keys where run_id = ${param('id')})`,
  session: (param) => sql`session_id = ${param('id')}`,
  topic: (param) => sql`topic = ${param('id')}`,
}

const selectStream = (
  kind: StreamKind,
  [operator, order]: ['>', 'asc'] | ['<', 'desc'],
): Query<StreamValues, EventRow> =>
  compile((param) =>
    from
      .selectFrom('events')
      .leftJoin('run_keys', 'run_keys.key', 'events.run_key')
      .select(['position', 'run_id', 'session_id', 'topic', 'type', 'phase', 'at', 'payload'])
      .where(isInStream[kind](param))
      .where('position', operator, param('position'))
      .orderBy('position', order)
      .limit(param('limit')),
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

interface ScanValues {
  readonly types: string
  readonly after: number
  readonly through: number
  readonly limit: number
}

export const SCAN: Query<ScanValues, EventRow> = compile((param) =>
  from
    .selectFrom('events')
    .leftJoin('run_keys', 'run_keys.key', 'events.run_key')
    .select(['position', 'run_id', 'session_id', 'topic', 'type', 'phase', 'at', 'payload'])
    .where('position', '>', param('after'))
    .where('position', '<=', param('through'))
    .where(sql<boolean>`type in (select value from json_each(${param('types')}))`)
    .orderBy('position')
    .limit(param('limit')),
)

const countStream = (kind: StreamKind): Query<StreamId & EventsBetween, { count: number }> =>
  compile((param) =>
    from
      .selectFrom('events')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where(isInStream[kind](param))
      .where('position', '>', param('after'))
      .where('position', '<=', param('through')),
  )

export const COUNT = { run: countStream('run'), session: countStream('session'), topic: countStream('topic') }

/**
 * The newest event, or the empty row that a trigger left when that event was deleted, so that no position is reused.
 */
const selectHead = compile<object, { position: number | null }>(() =>
  from.selectFrom('events').select((eb) => eb.fn.max('position').as('position')),
)

function streamKindOf(stream: EventStream): readonly [kind: StreamKind, id: string] {
  if ('runId' in stream) return ['run', stream.runId]
  return 'sessionId' in stream ? ['session', stream.sessionId] : ['topic', stream.topic]
}

const toRecord = (row: EventRow): StoredEvent => ({
  position: row.position,
  runId: row.run_id ?? undefined,
  sessionId: row.session_id ?? undefined,
  topic: row.topic ?? undefined,
  type: row.type,
  payload: toEventPayload(row.type, row.payload),
  phase: row.phase ?? undefined,
  at: row.at as EpochMs,
})

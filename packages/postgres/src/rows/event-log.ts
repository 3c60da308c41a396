import {
  type EpochMs,
  type EventRange,
  type EventStream,
  type LogHead,
  type LogScan,
  MAX_SCANNED,
  type StoredEvent,
  utf8Length,
} from '@perdure/ports'
import { type Param, type Query, toEventPayload } from '@perdure/sql'
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { bounded } from '../query/bounded.ts'
import { compile, from } from '../query/compile.ts'
import type { EventTable } from '../query/schema.ts'

export interface EventsBefore {
  readonly before: number
  readonly limit: number
  readonly maxLength?: number | undefined
}

export interface EventsBetween {
  readonly after: number
  readonly through: number
}

export async function readEvents(db: Connection, { stream, range }: { stream: EventStream; range: EventRange }) {
  const [kind, id] = streamKindOf(stream)
  const { after: position, limit, maxLength } = range
  return untilLength(await db.all(READ_AFTER[kind], { id, position, limit, maxBytes: bytesFor(maxLength) }), maxLength)
}

export async function readEventsBefore(
  db: Connection,
  { stream, range }: { stream: EventStream; range: EventsBefore },
) {
  const [kind, id] = streamKindOf(stream)
  const { before: position, limit, maxLength } = range
  return untilLength(await db.all(READ_BEFORE[kind], { id, position, limit, maxBytes: bytesFor(maxLength) }), maxLength)
}

/** A text of this length has at most as many bytes. */
const bytesFor = (maxLength = Number.MAX_SAFE_INTEGER): number => maxLength * 3

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

export async function countEvents(
  db: Connection,
  { stream, range }: { stream: EventStream; range: EventsBetween },
): Promise<number> {
  const [kind, id] = streamKindOf(stream)
  return (await db.get(COUNT[kind], { id, ...range }))?.count ?? 0
}

export async function readLogHead(db: Connection): Promise<LogHead> {
  const { epoch, position, trimmed_through } = (await db.get(SELECT_HEAD, {})) as HeadRow
  return { epoch, position: position ?? 0, trimmedThrough: Number(trimmed_through) }
}

/** The head is read first: events that are appended in between belong to the next scan. */
export async function scanEvents(
  db: Connection,
  { types, range }: { types: readonly string[]; range: EventRange },
): Promise<LogScan> {
  const { after, limit, maxLength } = range
  const { position } = await readLogHead(db)
  const through = Math.max(after, Math.min(position, after + MAX_SCANNED))
  const maxBytes = bytesFor(maxLength)
  const rows = await db.all(SCAN, { types, after, through, limit: limit + 1, maxBytes })
  const { events, isWhole } = scanned(rows, limit, maxLength)
  const reachedEnd = isWhole && !endsEarly(rows, maxBytes)
  return { events, through: reachedEnd ? through : (events.at(-1)?.position ?? through) }
}

/** Whether the query may have left out rows because the ones before them were too long. */
const endsEarly = (rows: readonly EventRow[], maxBytes: number): boolean =>
  rows.reduce((bytes, { payload }) => bytes + utf8Length(payload), 0) > maxBytes

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
  readonly maxBytes: number
}

type EventRow = EventTable

const isInStream: Record<StreamKind, (param: Param<StreamId>) => RawBuilder<SqlBool>> = {
  run: (param) => sql`run_id = ${param('id')}`,
  session: (param) => sql`session_id = ${param('id')}`,
  topic: (param) => sql`topic = ${param('id')}`,
}

const selectStream = (
  kind: StreamKind,
  [operator, order]: ['>', 'asc'] | ['<', 'desc'],
): Query<StreamValues, EventRow> =>
  compile((param) => {
    const query = from
      .selectFrom('events')
      .selectAll()
      .where(isInStream[kind](param))
      .where('position', operator, param('position'))
      .orderBy('position', order)
      .limit(param('limit'))
    return bounded(query as Expression<EventRow>, ['payload'], sql`${param('maxBytes')}::float8`)
  })

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
  readonly types: readonly string[]
  readonly after: number
  readonly through: number
  readonly limit: number
  readonly maxBytes: number
}

export const SCAN: Query<ScanValues, EventRow> = compile((param) => {
  const query = from
    .selectFrom('events')
    .selectAll()
    .where('position', '>', param('after'))
    .where('position', '<=', param('through'))
    .where(sql<boolean>`type = any(${param('types')}::text[])`)
    .orderBy('position')
    .limit(param('limit'))
  return bounded(query as Expression<EventRow>, ['payload'], sql`${param('maxBytes')}::float8`)
})

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

interface HeadRow {
  readonly epoch: string
  readonly trimmed_through: string
  readonly position: number | null
}

/**
 * The newest event, or the empty row that a trigger left when that event was deleted, so that no position is reused.
 */
export const SELECT_HEAD = compile<object, HeadRow>(() => ({
  compile: () =>
    sql<HeadRow>`select (select value from meta where name = 'epoch') as epoch,
      (select value from meta where name = 'trimmed_through') as trimmed_through,
      (select max(position) from events) as position`.compile(from),
}))

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

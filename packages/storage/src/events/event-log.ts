import {
  type EpochMs,
  type EventLog,
  type EventStream,
  MAX_SCANNED,
  type StoredEvent,
  utf8Length,
} from '@perdure/ports'
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Built, compile, type Param, type Query } from '../query/compile.ts'
import type { Dialect } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import type { EventTable } from '../query/schema.ts'
import type { Reads } from '../reads.ts'
import { toEventPayload } from './event-payload.ts'

export const eventReads: Reads<EventLog> = {
  *read(db, stream, { after: position, limit, maxLength }) {
    const [kind, id] = streamKindOf(stream)
    const maxBytes = bytesFor(maxLength)
    return untilLength(yield* db.each(READ_AFTER[kind], { id, position, limit, maxBytes }), maxLength)
  },
  *readBefore(db, stream, { before: position, limit, maxLength }) {
    const [kind, id] = streamKindOf(stream)
    const maxBytes = bytesFor(maxLength)
    return untilLength(yield* db.each(READ_BEFORE[kind], { id, position, limit, maxBytes }), maxLength)
  },
  *count(db, stream, range) {
    const [kind, id] = streamKindOf(stream)
    return (yield* db.get(COUNT[kind], { id, ...range }))?.count ?? 0
  },
  *head(db) {
    const { epoch, position, trimmed_through } = (yield* db.get(SELECT_HEAD, {})) as HeadRow
    return { epoch, position: position ?? 0, trimmedThrough: Number(trimmed_through) }
  },
  /** The head is read first: events that are appended in between belong to the next scan. */
  *scan(db, types, { after, limit, maxLength }) {
    const { position } = yield* eventReads.head(db)
    const through = Math.max(after, Math.min(position, after + MAX_SCANNED))
    const maxBytes = bytesFor(maxLength)
    const rows = yield* db.each(SCAN, { types, after, through, limit: limit + 1, maxBytes })
    const events: StoredEvent[] = []
    let length = 0
    let bytes = 0
    for (const row of rows) {
      if (events.length === limit || length >= (maxLength ?? Number.POSITIVE_INFINITY))
        return { events, through: endOf(events, through) }
      events.push(toRecord(row))
      length += row.payload.length
      bytes += utf8Length(row.payload)
    }
    // The query may have left out rows because the ones before them were too long.
    return { events, through: bytes > maxBytes ? endOf(events, through) : through }
  },
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

const endOf = (events: readonly StoredEvent[], through: number): number => events.at(-1)?.position ?? through

/** A text of this length has at most as many bytes. */
const bytesFor = (maxLength = Number.MAX_SAFE_INTEGER): number => maxLength * 3

type StreamKind = 'run' | 'session' | 'topic'

interface StreamId {
  readonly id: string
}

interface StreamValues extends StreamId {
  readonly position: number
  readonly limit: number
  readonly maxBytes: number
}

type EventRow = EventTable & { readonly run_id: string | null }

const isInStream: Record<StreamKind, (param: Param<StreamId>, dialect: Dialect) => RawBuilder<SqlBool>> = {
  run: (param, { run }) => sql`${sql.ref(run.column)} = ${run.of(param('id'))}`,
  session: (param) => sql`session_id = ${param('id')}`,
  topic: (param) => sql`topic = ${param('id')}`,
}

/** Events with the id of their run. */
const wholeEvents = ({ run }: Dialect) =>
  from
    .selectFrom('events')
    .select([run.idOf('events').as('run_id'), 'position', 'session_id', 'topic', 'type', 'phase', 'at', 'payload'])

/** The events of an ordered query until their payloads are longer than `maxBytes`. */
const withinBytes = (query: unknown, param: Param<{ maxBytes: number }>, dialect: Dialect): Built<EventRow> =>
  dialect.bounded(query as Expression<EventRow>, ['payload'], sql`cast(${param('maxBytes')} as double precision)`)

const selectStream = (
  kind: StreamKind,
  [operator, order]: ['>', 'asc'] | ['<', 'desc'],
): Query<StreamValues, EventRow> =>
  compile((param, dialect) => {
    const query = wholeEvents(dialect)
      .where(isInStream[kind](param, dialect))
      .where('position', operator, param('position'))
      .orderBy('position', order)
      .limit(param('limit'))
    return withinBytes(query, param, dialect)
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

export const SCAN: Query<ScanValues, EventRow> = compile((param, dialect) => {
  const query = wholeEvents(dialect)
    .where('position', '>', param('after'))
    .where('position', '<=', param('through'))
    .where(dialect.isOneOf('type', param('types')))
    .orderBy('position')
    .limit(param('limit'))
  return withinBytes(query, param, dialect)
})

const countStream = (kind: StreamKind): Query<StreamId & { after: number; through: number }, { count: number }> =>
  compile((param, dialect) =>
    from
      .selectFrom('events')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where(isInStream[kind](param, dialect))
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
export const SELECT_HEAD = compile<object, HeadRow>(
  () => sql<HeadRow>`select (select value from meta where name = 'epoch') as epoch,
    (select value from meta where name = 'trimmed_through') as trimmed_through,
    (select max(position) from events) as position`,
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

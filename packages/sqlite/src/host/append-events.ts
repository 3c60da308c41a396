import type { NewEvent, StoredEvent } from '@perdure/ports'
import { compile, paramsFor, statement } from '@perdure/storage'
import type { Connection } from '../file/connection.ts'
import { from } from '../query/compile.ts'
import { ENTER_RUN } from '../query/dialect.ts'
import type { EventTable } from '../query/own-tables.ts'

/** Appends events to the log, each at the next position. */
export function appendEvents(connection: Connection, events: readonly NewEvent[]): readonly StoredEvent[] {
  const rows = toRows(connection, events)
  const stored: StoredEvent[] = []
  while (stored.length < rows.length) {
    const block = rows.slice(stored.length, stored.length + ROWS_PER_STATEMENT)
    const [first] = block as [NewEventRow]
    const isWhole = block.length === ROWS_PER_STATEMENT
    const { lastInsertRowid } = isWhole ? connection.run(insertBlock, block) : connection.run(insertEvent, first)
    const added = isWhole ? block.length : 1
    // No other connection writes meanwhile, so the rows of one statement have consecutive positions.
    let position = Number(lastInsertRowid) - added
    for (const event of events.slice(stored.length, stored.length + added)) {
      stored.push({ ...event, position: ++position })
    }
  }
  return stored
}

function toRows(connection: Connection, events: readonly NewEvent[]): readonly NewEventRow[] {
  let run: string | undefined
  let key: number | null = null
  return events.map((event) => {
    if (event.runId !== run) key = event.runId === undefined ? null : keyOf(connection, event.runId)
    run = event.runId
    return toRow(event, key)
  })
}

/** Returns the number of a run; assigns one if the run has none yet. */
function keyOf(connection: Connection, id: string): number {
  const known = connection.get(selectKey, { id })
  if (known !== undefined) return known.key
  return Number(connection.run(ENTER_RUN, { id }).lastInsertRowid)
}

const selectKey = compile<{ id: string }, { key: number }>((param) =>
  from.selectFrom('run_keys').select('key').where('run_id', '=', param('id')),
)

type NewEventRow = Omit<EventTable, 'position'>

const COLUMNS = ['run_key', 'session_id', 'topic', 'type', 'phase', 'at', 'payload'] as const

const insertEvent = compile<NewEventRow, unknown>((param) =>
  from.insertInto('events').values(paramsFor(param, COLUMNS)),
)

/** A statement for many rows costs half as much per row as a statement for each. */
const ROWS_PER_STATEMENT = 16

const insertBlock = statement<readonly NewEventRow[]>(
  `INSERT INTO events (${COLUMNS.join(', ')}) VALUES ${Array(ROWS_PER_STATEMENT)
    .fill(`(${COLUMNS.map(() => '?').join(', ')})`)
    .join(', ')}`,
  (rows) => rows.flatMap((row) => COLUMNS.map((name) => row[name])),
)

const toRow = (event: NewEvent, runKey: number | null): NewEventRow => ({
  run_key: runKey,
  session_id: event.sessionId ?? null,
  topic: event.topic ?? null,
  type: event.type,
  phase: event.phase ?? null,
  at: event.at,
  payload: event.payload,
})

import type { NewEvent, StoredEvent } from '@perdure/ports'
import { compile, paramsFor } from '@perdure/storage'
import type { Connection } from '../file/connection.ts'
import { from } from '../query/compile.ts'
import { ENTER_RUN } from '../query/dialect.ts'
import type { EventTable } from '../query/schema.ts'

/** Appends events to the log, each at the next position. */
export function appendEvents(connection: Connection, events: readonly NewEvent[]): readonly StoredEvent[] {
  let run: string | undefined
  let key: number | null = null
  return events.map((event) => {
    if (event.runId !== run) key = event.runId === undefined ? null : keyOf(connection, event.runId)
    run = event.runId
    const { lastInsertRowid } = connection.run(insertEvent, toRow(event, key))
    return { ...event, position: Number(lastInsertRowid) }
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

const toRow = (event: NewEvent, runKey: number | null): NewEventRow => ({
  run_key: runKey,
  session_id: event.sessionId ?? null,
  topic: event.topic ?? null,
  type: event.type,
  phase: event.phase ?? null,
  at: event.at,
  payload: event.payload,
})

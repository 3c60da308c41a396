import type { NewEvent } from '@perdure/ports'
import { paramsFor } from '@perdure/sql'
import { compile, from } from '../query/compile.ts'
import type { EventTable } from '../query/schema.ts'
import { runKey } from './run-keys.ts'
import type { WriteAppliers } from './write-applier.ts'

export const eventWrites: WriteAppliers<'event.append'> = {
  'event.append'(tx, { events }) {
    const { db, events: appended } = tx
    let run: string | undefined
    let key: number | null = null
    for (const event of events) {
      if (event.runId !== run) key = event.runId === undefined ? null : runKey(tx, event.runId)
      run = event.runId
      const { lastInsertRowid } = db.run(insertEvent, toRow(event, key))
      appended.push({ ...event, position: Number(lastInsertRowid) })
    }
    return events.length
  },
}

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

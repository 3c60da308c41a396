import { LANE_CLOCK_TOLERANCE_MS } from '@perdure/ports'
import {
  type ColumnTypes,
  compile,
  MESSAGES,
  type MessageRow,
  NO_EXECUTOR,
  NOTE_MESSAGE,
  RESPONSES,
  RUN_CHANGES,
  RUN_TYPES,
  type RunRow,
  SESSION_TYPES,
  type SessionRow,
  STEP_CHANGES,
  STEPS,
  type StepRow,
} from '@perdure/storage'
import { sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { type EventColumns, insertion, toColumns } from '../host/append-events.ts'
import { INSERT_MARKER, type Marker } from '../host/node.ts'
import { from } from '../query/compile.ts'
import { LOCKS } from '../query/locks.ts'
import type {
  GroupChanges,
  ResponseRow,
  RunChangeRow,
  RunFieldRow,
  RunFollowUpRow,
  SessionChangeRow,
  SessionFieldRow,
  StepChangeRow,
  StepKeyRow,
  TakenSlotRow,
} from './changes.ts'
import { insertRows, rowSet, unnest, updateRows } from './row-sets.ts'

/**
 * Sends the statements that write the changes of a group, one per table. The log is locked last. The returned promises
 * are in the order of the statements.
 */
export function sendChanges(db: Connection, changes: GroupChanges): Promise<unknown>[] {
  const sent: Promise<unknown>[] = []
  const send = <Row>(rows: readonly Row[], query: Parameters<typeof db.run<readonly Row[]>>[0]) => {
    if (rows.length > 0) sent.push(db.run(query, rows))
  }
  send(changes.responses, SET_WRITES.responses)
  send(changes.runs, SET_WRITES.runs)
  send(changes.runChanges, SET_WRITES.runChanges)
  send(changes.followUps, SET_WRITES.followUps)
  send(changes.runFields, SET_WRITES.runFields)
  if (changes.freed.length > 0) sent.push(db.run(SET_WRITES.freed, { ids: changes.freed }))
  send(changes.slots, SET_WRITES.slots)
  send(changes.sessions, SET_WRITES.sessions)
  send(changes.sessionFields, SET_WRITES.sessionFields)
  send(changes.sessionChanges, SET_WRITES.sessionChanges)
  send(changes.steps, SET_WRITES.steps)
  send(changes.restarts, SET_WRITES.restarts)
  send(changes.stepChanges, SET_WRITES.stepChanges)
  send(changes.messages, SET_WRITES.messages)
  for (const message of changes.noted) sent.push(db.run(NOTE_MESSAGE, message))
  return sent
}

/** Sends the insertion of the events and the marker of the group. Resolves with the position of the first event. */
export async function sendEvents(
  db: Connection,
  events: GroupChanges['events'],
  { knownPosition, ...group }: Marker & { readonly knownPosition: number },
): Promise<number | null> {
  if (events.length === 0) {
    await db.run(INSERT_MARKER, group)
    return null
  }
  const [, row] = await Promise.all([
    db.run(LOCKS.log, {}),
    db.get(SET_WRITES.events, { known: knownPosition, ...toColumns(events), ...group }),
  ])
  return row?.first_position ?? null
}

const STEP_KEY: ColumnTypes<StepKeyRow> = { run_id: 'text', seq: 'integer' }

const RUN_FIELDS: ColumnTypes<RunFieldRow> = { field: 'text', value: 'text', run_at: 'bigint', run_id: 'text' }

const SESSION_FIELDS: ColumnTypes<SessionFieldRow> = {
  ...{ field: 'text', value: 'text', session_at: 'bigint', session_id: 'text' },
}

const SESSION_CHANGES: ColumnTypes<SessionChangeRow> = { id: 'text', last_seq: 'integer', updated_at: 'bigint' }

const SLOTS: ColumnTypes<TakenSlotRow> = {
  ...{ lane: 'text', slot: 'integer', run_id: 'text', free_at: 'bigint', now: 'bigint' },
}

/** Takes the slots, or fails if another transaction has taken one since the group has looked. */
const TAKE_SLOTS = `with new as (select * from ${unnest(SLOTS)} as new (lane, slot, run_id, free_at, now)),
  taken as (
    insert into lanes (lane, slot, run_id, free_at) select lane, slot, run_id, free_at from new
    on conflict (lane, slot) do update set run_id = excluded.run_id, free_at = excluded.free_at
      where lanes.run_id = excluded.run_id or lanes.free_at <= (select min(now) from new) 
        or lanes.free_at > excluded.free_at + ${LANE_CLOCK_TOLERANCE_MS}
    returning 1)
  select expect_rows((select count(*) from taken), (select count(*) from new))`

/** The statements that write a group; each takes one list per column. */
export const SET_WRITES = {
  runs: insertRows<RunRow>('runs', RUN_TYPES),
  runChanges: updateRows<RunChangeRow>('runs', { id: 'text', ...RUN_CHANGES.types }, ['id'], { executor: NO_EXECUTOR }),
  followUps: insertRows<RunFollowUpRow>('run_follow_ups', { run_id: 'text' }, 'on conflict (run_id) do nothing'),
  runFields: insertRows<RunFieldRow>('run_fields', RUN_FIELDS, 'on conflict do nothing'),
  freed: compile<{ ids: readonly string[] }, unknown>((param) =>
    from
      .deleteFrom('lanes')
      .where(sql<boolean>`run_id = any(${param('ids')}::text[])`)
      .where('free_at', 'is', null),
  ),
  slots: rowSet<TakenSlotRow>(TAKE_SLOTS, Object.keys(SLOTS) as (keyof TakenSlotRow)[]),
  sessions: insertRows<SessionRow>('sessions', SESSION_TYPES),
  sessionFields: insertRows<SessionFieldRow>('session_fields', SESSION_FIELDS),
  sessionChanges: updateRows<SessionChangeRow>('sessions', SESSION_CHANGES, ['id']),
  steps: insertRows<StepRow>('steps', { run_id: 'text', ...STEPS.types }),
  restarts: rowSet<StepKeyRow>(
    `update steps set result = null, result_file = null, error = null, due_at = null, settled_at = null, "order" = null
      from ${unnest(STEP_KEY)} as ended (run_id, seq) where steps.run_id = ended.run_id and steps.seq = ended.seq`,
    ['run_id', 'seq'],
  ),
  stepChanges: updateRows<StepChangeRow>('steps', { ...STEP_KEY, ...STEP_CHANGES.types }, ['run_id', 'seq']),
  messages: insertRows<MessageRow>('messages', { session_id: 'text', ...MESSAGES.types }),
  responses: updateRows<ResponseRow>('idempotency', { id: 'text', ...RESPONSES.types }, ['id']),
  events: compile<EventColumns & Marker & { readonly known: number }, { first_position: number }>(
    (param) => sql<{ first_position: number }>`with added as (${insertion(param)})
        insert into node_groups (node, number, first_position)
        select ${param('node')}, ${param('number')}::bigint, min(position) from added returning first_position`,
  ),
}

import type { NewEvent, StoredEvent } from '@perdure/ports'
import type { Param } from '@perdure/storage'
import { compile } from '@perdure/storage'
import { sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { LOCKS } from '../query/locks.ts'

export interface PendingEvents {
  readonly db: Connection
  /** Events that are not in the log yet: the lock of the log is taken last. */
  readonly pending: NewEvent[]
  /** Events that are in the log. */
  readonly events: StoredEvent[]
  /** The newest position that this process has seen. */
  readonly knownPosition: number
}

/** Appends the pending events to the log. The lock of the log is held until the transaction ends. */
export async function flushEvents({ db, pending, events, knownPosition }: PendingEvents): Promise<void> {
  if (pending.length === 0) return
  await db.run(LOCKS.log, {})
  const after = events.at(-1)?.position ?? knownPosition
  const positions = await db.all(INSERT_EVENTS, { known: after, ...toColumns(pending) })
  events.push(...toStored(pending, positions[0]?.position ?? 0))
  pending.length = 0
}

/** The events with their positions: those of one insertion follow each other. */
export const toStored = (events: readonly NewEvent[], first: number): StoredEvent[] =>
  events.map((event, index) => ({ ...event, position: first + index }))

/** The events of an insertion, as one list per column. */
export interface EventColumns {
  readonly runIds: readonly (string | null)[]
  readonly sessionIds: readonly (string | null)[]
  readonly topics: readonly (string | null)[]
  readonly types: readonly string[]
  readonly phases: readonly (string | null)[]
  readonly ats: readonly number[]
  readonly payloads: readonly string[]
}

export const toColumns = (events: readonly NewEvent[]): EventColumns => ({
  runIds: events.map(({ runId }) => runId ?? null),
  sessionIds: events.map(({ sessionId }) => sessionId ?? null),
  topics: events.map(({ topic }) => topic ?? null),
  types: events.map(({ type }) => type),
  phases: events.map(({ phase }) => phase ?? null),
  ats: events.map(({ at }) => at),
  payloads: events.map(({ payload }) => payload),
})

/** Inserts the events behind the newest one, in order. */
export const insertion = (param: Param<EventColumns & { readonly known: number }>) =>
  sql<{ position: number }>`insert into events (position, run_id, session_id, topic, type, phase, at, payload)
    select greatest(${param('known')}::bigint, (
        select position from events where position >= ${param('known')}::bigint order by position desc limit 1
      )) + number, run_id, session_id, topic, type, phase, at, payload
    from unnest(${param('runIds')}::text[], ${param('sessionIds')}::text[], ${param('topics')}::text[],
      ${param('types')}::text[], ${param('phases')}::text[], ${param('ats')}::bigint[], ${param('payloads')}::text[])
      with ordinality as new (run_id, session_id, topic, type, phase, at, payload, number)
    returning position`

const INSERT_EVENTS = compile<EventColumns & { readonly known: number }, { position: number }>(
  (param) => sql<{ position: number }>`with added as (${insertion(param)}) select min(position) as position from added`,
)

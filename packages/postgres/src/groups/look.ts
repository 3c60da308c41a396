import type { EpochMs, IdempotencyRecord, RunStatus, StepStatus } from '@perdure/ports'
import {
  columnsOf,
  compile,
  IDEMPOTENCY_COLUMNS,
  IDEMPOTENCY_TYPES,
  type IdempotencyRow,
  type LaneRow,
  statement,
  toIdempotency,
  toIdempotencyRow,
} from '@perdure/storage'
import { sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { earlierClockText } from '../query/earlier-clock.ts'
import type { SetWrite } from './plan-groups.ts'
import { unnest } from './row-sets.ts'

/** What the writes of a group depend on. The rows are locked until the transaction ends. */
export interface GroupState {
  /** Keys that the group has reserved. */
  readonly reserved: ReadonlySet<string>
  /** Records that have a key which the group wanted. */
  readonly taken: ReadonlyMap<string, IdempotencyRecord>
  /** Ids of the executing records that wait for a run. */
  readonly waiting: ReadonlyMap<string, readonly WaitingRow[]>
  readonly runs: ReadonlyMap<string, RunState>
  readonly slots: ReadonlyMap<string, LaneRow>
  readonly sessions: ReadonlyMap<string, SessionState>
  readonly steps: ReadonlyMap<string, StepStatus>
  readonly lastOrders: ReadonlyMap<string, number>
}

export interface RunState {
  readonly id: string
  readonly status: RunStatus
  readonly attempt: number
  readonly execution: number
  readonly start_at: number | null
  readonly created_at: number
}

export interface SessionState {
  readonly id: string
  readonly last_seq: number
}

export const stepKey = (runId: string, seq: number): string => `${seq} ${runId}`
export const slotKey = (lane: string, slot: number): string => `${slot} ${lane}`

/** Sends every statement that locks and reads rows of the group, and reserves its keys. */
export async function look(db: Connection, writes: readonly SetWrite[]): Promise<GroupState> {
  const wanted = wantedRows(writes)
  const [keys, waiting, runs, slots, sessions, steps, orders] = await Promise.all([
    wanted.records.length === 0 ? [] : db.all(RESERVE, wanted),
    wanted.completed.length === 0 ? [] : db.all(LOCK_WAITING, { runIds: wanted.completed }),
    wanted.runs.length === 0 ? [] : db.all(LOCK_RUNS, { ids: wanted.runs }),
    wanted.slots.length === 0 ? [] : db.all(LOCK_SLOTS, wanted.slots),
    wanted.sessions.length === 0 ? [] : db.all(LOCK_SESSIONS, { ids: wanted.sessions }),
    wanted.steps.length === 0 ? [] : db.all(LOCK_STEPS, wanted.steps),
    wanted.ended.length === 0 ? [] : db.all(LAST_ORDERS, { runIds: wanted.ended }),
  ])
  return {
    reserved: new Set(keys.filter(({ is_new }) => is_new).map(({ wanted_id }) => wanted_id)),
    taken: new Map(
      keys.flatMap((row) => (row.id === null ? [] : [[row.id, toIdempotency(row as IdempotencyRow)] as const])),
    ),
    waiting: byRun(waiting),
    runs: new Map(runs.map((row) => [row.id, row])),
    slots: new Map(slots.map((row) => [slotKey(row.lane, row.slot), row])),
    sessions: new Map(sessions.map((row) => [row.id, row])),
    steps: new Map(steps.map((row) => [stepKey(row.run_id, row.seq), row.status])),
    lastOrders: new Map(orders.map(({ run_id, last }) => [run_id, last ?? 0])),
  }
}

function byRun(rows: readonly WaitingRow[]): GroupState['waiting'] {
  const ofRuns = new Map<string, WaitingRow[]>()
  for (const row of rows) {
    const ofRun = ofRuns.get(row.run_id)
    if (ofRun === undefined) ofRuns.set(row.run_id, [row])
    else ofRun.push(row)
  }
  return ofRuns
}

interface WantedRows {
  readonly records: readonly IdempotencyRecord[]
  readonly now: number
  readonly completed: readonly string[]
  readonly runs: readonly string[]
  readonly slots: readonly { readonly lane: string; readonly slot: number }[]
  readonly sessions: readonly string[]
  readonly steps: readonly { readonly run_id: string; readonly seq: number }[]
  readonly ended: readonly string[]
}

const different = (ids: readonly string[]): readonly string[] => [...new Set(ids)]

/** Keys are sorted, so that transactions of two processes lock them in the same order. */
function wantedRows(writes: readonly SetWrite[]): WantedRows {
  const reservations = writes.filter((write) => write.type === 'idempotency.reserve')
  const steps = writes.flatMap(stepsOf)
  const changes = writes.filter((write) => write.type === 'step.change')
  return {
    records: reservations.map(({ record }) => record).toSorted((one, other) => (one.id < other.id ? -1 : 1)),
    now: Math.min(...reservations.map(({ now }) => now)),
    completed: different(writes.flatMap((write) => (write.type === 'idempotency.complete' ? [write.runId] : []))),
    runs: different([...writes.flatMap(runsOf), ...steps.map(({ run_id }) => run_id)]),
    slots: writes.flatMap((write) => (write.type === 'lane.take' ? write.slots : [])),
    sessions: different(writes.flatMap(sessionsOf)),
    steps,
    ended: different(changes.map(({ runId }) => runId)),
  }
}

function runsOf(write: SetWrite): readonly string[] {
  if (write.type === 'run.insert') return [write.run.id]
  const isOfRun = write.type === 'run.transition' || write.type === 'run.fence' || write.type === 'run.emit'
  return isOfRun ? [write.runId] : []
}

function sessionsOf(write: SetWrite): readonly string[] {
  if (write.type === 'session.insert') return [write.session.id]
  if (write.type === 'session.touch') return [write.id]
  return write.type === 'message.append' ? [write.message.sessionId] : []
}

function stepsOf(write: SetWrite): WantedRows['steps'] {
  if (write.type === 'step.insert') return [{ run_id: write.step.runId, seq: write.step.seq }]
  if (write.type === 'step.change') return [{ run_id: write.runId, seq: write.seq }]
  return write.type === 'step.fence' ? write.seqs.map((seq) => ({ run_id: write.runId, seq })) : []
}

interface ReserveRow extends Omit<IdempotencyRow, 'id'> {
  readonly wanted_id: string
  readonly is_new: boolean
  readonly id: string | null // of the record that has the key
}

const NAMES = columnsOf(IDEMPOTENCY_TYPES)

/** Reserves the keys that no live record has, and reads the other records. */
export const RESERVE = statement<Pick<WantedRows, 'records' | 'now'>, ReserveRow>(
  `with new as (select * from ${unnest(IDEMPOTENCY_TYPES)} as new (${NAMES.join(', ')})),
    added as (
      insert into idempotency (${NAMES.join(', ')}) select ${NAMES.join(', ')} from new
      on conflict (id) do update set ${IDEMPOTENCY_COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ')}
        where idempotency.status is not null and idempotency.expires_at <= ${earlierClockText(`$${NAMES.length + 1}`)}
      returning id)
    select new.id as wanted_id, added.id is not null as is_new, known.*
    from new left join added on added.id = new.id left join idempotency as known on known.id = new.id and added.id is null`,
  ({ records, now }: Pick<WantedRows, 'records' | 'now'>) => {
    const rows = records.map(toIdempotencyRow)
    return [...NAMES.map((name) => rows.map((row) => row[name])), now]
  },
)

/** A record whose response is the outcome of a run. */
export interface WaitingRow {
  readonly id: string
  readonly run_id: string
  readonly patient_until: number | null
}

/** The records whose response is the outcome of one of the runs. */
export const LOCK_WAITING = compile<{ runIds: readonly string[] }, WaitingRow>(
  (param) => sql<WaitingRow>`select id, run_id, patient_until from idempotency where status is null and id = any(array(
        select id from idempotency where content_of = any(${param('runIds')}::text[]) and run_id = content_of and status is null
        union all
        select id from idempotency where run_id = any(${param('runIds')}::text[]) and status is null
          and coalesce(run_id, '') is distinct from content_of))
      order by id for no key update`,
)

export const LOCK_RUNS = compile<{ ids: readonly string[] }, RunState>(
  (
    param,
  ) => sql<RunState>`select id, status, attempt, execution, start_at, created_at from runs where id = any(${param('ids')}::text[])
      order by id for no key update`,
)

const SLOT_COLUMNS = { lane: 'text', slot: 'integer' } as const

export const LOCK_SLOTS = statement<WantedRows['slots'], LaneRow>(
  `select lanes.* from ${unnest(SLOT_COLUMNS)} as wanted (lane, slot) join lanes using (lane, slot)
    order by lane, slot for update of lanes`,
  (slots: WantedRows['slots']) => [slots.map(({ lane }) => lane), slots.map(({ slot }) => slot)],
)

export const LOCK_SESSIONS = compile<{ ids: readonly string[] }, SessionState>(
  (param) => sql<SessionState>`select id, last_seq from sessions where id = any(${param('ids')}::text[])
      order by id for no key update`,
)

const STEP_COLUMNS = { run_id: 'text', seq: 'integer' } as const

export const LOCK_STEPS = statement<WantedRows['steps'], { run_id: string; seq: number; status: StepStatus }>(
  `select steps.run_id, steps.seq, steps.status from ${unnest(STEP_COLUMNS)} as wanted (run_id, seq)
    join steps using (run_id, seq) order by run_id, seq for no key update of steps`,
  (steps: WantedRows['steps']) => [steps.map(({ run_id }) => run_id), steps.map(({ seq }) => seq)],
)

/** The last end order of each run. Read after the lock of the run, so no other transaction can add one. */
export const LAST_ORDERS = compile<{ runIds: readonly string[] }, { run_id: string; last: number | null }>(
  (param) => sql<{ run_id: string; last: number | null }>`select run_id, (
        select "order" from steps where steps.run_id = wanted.run_id and "order" is not null order by "order" desc limit 1
      ) as last from unnest(${param('runIds')}::text[]) as wanted (run_id)`,
)

/** Whether the record counts as live for a request at this instant. */
export const isLive = ({ response, expiresAt }: IdempotencyRecord, now: EpochMs): boolean =>
  response === undefined || expiresAt > now

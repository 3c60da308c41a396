import type { EpochMs, JsonText, StepRecord } from '@perdure/ports'
import { type Selectable, type SqlBool, sql } from 'kysely'
import type { Connection } from './connection.ts'
import { compile, from } from './query.ts'
import type { StepTable } from './schema.ts'

export interface StepPlace {
  readonly runId: string
  readonly seq: number
}

export interface EventWaiters {
  readonly eventName: string
  readonly limit: number
  readonly runId?: string | undefined
}

export const listSteps = (db: Connection, runId: string): readonly StepRecord[] =>
  db.all(STEP_QUERIES.ofRun, { runId }).map(toRecord)

export const findStep = (db: Connection, place: StepPlace): StepRecord | undefined =>
  toRecordIfAny(db.get(STEP_QUERIES.atPlace, place))

export const dueSteps = (db: Connection, until: { now: EpochMs; limit: number }): readonly StepRecord[] =>
  db.all(STEP_QUERIES.due, until).map(toRecord)

export const nextDueAt = (db: Connection): EpochMs | undefined =>
  db.get(STEP_QUERIES.nextDue, {})?.due_at as EpochMs | undefined

export function stepsWaitingForEvent(db: Connection, { eventName, limit, runId }: EventWaiters): readonly StepRecord[] {
  const rows =
    runId === undefined
      ? db.all(STEP_QUERIES.forEvent, { eventName, limit })
      : db.all(STEP_QUERIES.forEventInRun, { eventName, limit, runId })
  return rows.map(toRecord)
}

export const stepWaitingForChild = (db: Connection, childRunId: string): StepRecord | undefined =>
  toRecordIfAny(db.get(STEP_QUERIES.forChild, { childRunId }))

type StepRow = Selectable<StepTable> & { readonly run_id: string }

const steps = from
  .selectFrom('steps')
  .innerJoin('run_keys', 'run_keys.key', 'steps.run_key')
  .selectAll('steps')
  .select('run_keys.run_id')

/** A literal, so that the partial indexes apply. */
const isWaiting = sql<SqlBool>`status = 'waiting'`
const waiting = steps.where(isWaiting)

export const STEP_QUERIES = {
  ofRun: compile<{ runId: string }, StepRow>((place) => steps.where('run_id', '=', place('runId')).orderBy('seq')),
  atPlace: compile<StepPlace, StepRow>((place) =>
    steps.where('run_id', '=', place('runId')).where('seq', '=', place('seq')),
  ),
  due: compile<{ now: number; limit: number }, StepRow>((place) =>
    waiting.where('due_at', '<=', place('now')).orderBy('due_at').orderBy('steps.key').limit(place('limit')),
  ),
  nextDue: compile<object, { due_at: number | null }>(() =>
    from
      .selectFrom('steps')
      .select('due_at')
      .where(isWaiting)
      .where('due_at', 'is not', null)
      .orderBy('due_at')
      .limit((eb) => eb.lit(1)),
  ),
  forEvent: compile<{ eventName: string; limit: number }, StepRow>((place) =>
    waiting
      .where('event_name', '=', place('eventName'))
      .orderBy('started_at')
      .orderBy('steps.key')
      .limit(place('limit')),
  ),
  forEventInRun: compile<{ eventName: string; limit: number; runId: string }, StepRow>((place) =>
    waiting
      .where('run_id', '=', place('runId'))
      .where('event_name', '=', place('eventName'))
      .orderBy('started_at')
      .orderBy('steps.key')
      .limit(place('limit')),
  ),
  forChild: compile<{ childRunId: string }, StepRow>((place) =>
    waiting.where('child_run_id', '=', place('childRunId')),
  ),
}

const toRecordIfAny = (row: StepRow | undefined): StepRecord | undefined =>
  row === undefined ? undefined : toRecord(row)

const toRecord = (row: StepRow): StepRecord => ({
  runId: row.run_id,
  seq: row.seq,
  kind: row.kind,
  name: row.name,
  status: row.status,
  attempt: row.attempt,
  result: (row.result ?? undefined) as JsonText | undefined,
  error: row.error === null ? undefined : JSON.parse(row.error),
  dueAt: (row.due_at ?? undefined) as EpochMs | undefined,
  eventName: row.event_name ?? undefined,
  approvalId: row.approval_id ?? undefined,
  childRunId: row.child_run_id ?? undefined,
  usage: row.usage === null ? undefined : JSON.parse(row.usage),
  order: row.order ?? undefined,
  startedAt: row.started_at as EpochMs,
  settledAt: (row.settled_at ?? undefined) as EpochMs | undefined,
})

import type { EpochMs, StepRecord } from '@perdure/ports'
import { type SqlBool, sql } from 'kysely'
import type { Connection } from '../file/connection.ts'
import { compile, from } from '../query/compile.ts'
import { type StepRow, toStep } from './step-row.ts'

export interface StepRef {
  readonly runId: string
  readonly seq: number
}

export interface EventWaiters {
  readonly eventName: string
  readonly limit: number
  readonly runId?: string | undefined
}

export const listSteps = (db: Connection, runId: string): readonly StepRecord[] =>
  db.all(STEP_QUERIES.ofRun, { runId }).map(toStep)

export const findStep = (db: Connection, ref: StepRef): StepRecord | undefined =>
  toStepIfAny(db.get(STEP_QUERIES.bySeq, ref))

export const dueSteps = (db: Connection, until: { now: EpochMs; limit: number }): readonly StepRecord[] =>
  db.all(STEP_QUERIES.due, until).map(toStep)

export const nextDueAt = (db: Connection): EpochMs | undefined =>
  db.get(STEP_QUERIES.nextDue, {})?.due_at as EpochMs | undefined

export function stepsWaitingForEvent(db: Connection, { eventName, limit, runId }: EventWaiters): readonly StepRecord[] {
  const rows =
    runId === undefined
      ? db.all(STEP_QUERIES.forEvent, { eventName, limit })
      : db.all(STEP_QUERIES.forEventInRun, { eventName, limit, runId })
  return rows.map(toStep)
}

export const stepWaitingForChild = (db: Connection, childRunId: string): StepRecord | undefined =>
  toStepIfAny(db.get(STEP_QUERIES.forChild, { childRunId }))

const steps = from
  .selectFrom('steps')
  .innerJoin('run_keys', 'run_keys.key', 'steps.run_key')
  .selectAll('steps')
  .select('run_keys.run_id')

/** The status is a literal, so that the partial indexes apply. */
const isWaiting = sql<SqlBool>`status = 'waiting'`
const waiting = steps.where(isWaiting)

export const STEP_QUERIES = {
  ofRun: compile<{ runId: string }, StepRow>((param) => steps.where('run_id', '=', param('runId')).orderBy('seq')),
  bySeq: compile<StepRef, StepRow>((param) =>
    steps.where('run_id', '=', param('runId')).where('seq', '=', param('seq')),
  ),
  due: compile<{ now: number; limit: number }, StepRow>((param) =>
    waiting.where('due_at', '<=', param('now')).orderBy('due_at').orderBy('steps.key').limit(param('limit')),
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
  forEvent: compile<{ eventName: string; limit: number }, StepRow>((param) =>
    waiting
      .where('event_name', '=', param('eventName'))
      .orderBy('started_at')
      .orderBy('steps.key')
      .limit(param('limit')),
  ),
  forEventInRun: compile<{ eventName: string; limit: number; runId: string }, StepRow>((param) =>
    waiting
      .where('run_id', '=', param('runId'))
      .where('event_name', '=', param('eventName'))
      .orderBy('started_at')
      .orderBy('steps.key')
      .limit(param('limit')),
  ),
  forChild: compile<{ childRunId: string }, StepRow>((param) =>
    waiting.where('child_run_id', '=', param('childRunId')),
  ),
}

const toStepIfAny = (row: StepRow | undefined): StepRecord | undefined => (row === undefined ? undefined : toStep(row))

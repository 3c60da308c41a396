import {
  type EpochMs,
  type Page,
  type PageQuery,
  type StepRange,
  type StepRecord,
  type StepStatus,
  takeWithinPage,
} from '@perdure/ports'
import {
  type LongTextColumns,
  longText,
  outlinedBytes,
  type PageValues,
  type Param,
  pageValues,
  pageVariant,
  type Query,
  rowBytes,
  STEP_COLUMNS,
  type StepRow,
  toPage,
  toStep,
  toText,
  type WithUnread,
} from '@perdure/sql'
import { type Compilable, type SqlBool, sql } from 'kysely'
import type { Connection } from '../file/connection.ts'
import { compile, from } from '../query/compile.ts'

export interface StepRef {
  readonly runId: string
  readonly seq: number
}

export interface EventWaiters {
  readonly eventName: string
  readonly limit: number
  readonly runId?: string | undefined
}

export interface StepListRequest {
  readonly runId: string
  readonly content?: { readonly results: boolean } | undefined
}

export const listSteps = (db: Connection, { runId, content }: StepListRequest): readonly StepRecord[] =>
  db.all(content?.results === false ? STEP_QUERIES.ofRunBriefly : STEP_QUERIES.ofRun, { runId }).map(toStep)

export interface BriefStepsRequest extends StepRange {
  readonly runId: string
}

export function briefSteps(db: Connection, { runId, after, limit, status }: BriefStepsRequest): readonly StepRecord[] {
  const range = { runId, after, limit }
  const rows =
    status === undefined
      ? db.each(STEP_QUERIES.briefRange, range)
      : db.each(STEP_QUERIES.briefRangeByStatus, { ...range, status })
  return takeWithinPage(rows, limit, rowBytes).items.map(toStep)
}

export function completedSteps(db: Connection, request: { runId: string; page: PageQuery }): Page<UnreadStep> {
  const { runId, page } = request
  const query = db.variant(`completed steps ${pageVariant(page)}`, () => completedQuery(page))
  const rows = db.each(query, { runId, ...pageValues(page) })
  return toPage(rows, page, {
    toRecord: toUnreadStep,
    rankOf: (row) => row.seq,
    bytesOf: outlinedBytes(['result']),
  })
}

type UnreadStep = WithUnread<StepRecord, 'result'>
type CompletedRow = Omit<StepRow, 'result'> & LongTextColumns<'result'> & { readonly id: string }

function toUnreadStep(row: CompletedRow): UnreadStep {
  const result = toText(row, 'result', { of: 'step', runId: row.run_id, seq: row.seq })
  return { ...toStep({ ...row, result: null }), result }
}

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

/** The columns of a call without its result and its error. */
const briefly = from
  .selectFrom('steps')
  .innerJoin('run_keys', 'run_keys.key', 'steps.run_key')
  .select(['steps.key', 'run_keys.run_id', ...STEP_COLUMNS.filter((name) => name !== 'result' && name !== 'error')])

const outlined = from
  .selectFrom('steps')
  .innerJoin('run_keys', 'run_keys.key', 'steps.run_key')
  .select(['steps.key', 'run_keys.run_id', 'run_keys.run_id as id'])
  .select(STEP_COLUMNS.filter((name) => name !== 'result'))
  .select(longText('result', 'steps'))

/** A page of steps is ordered by `seq` alone, because the run is the same; `id` completes the cursor. */
export const completedQuery = (page: PageQuery): Query<PageValues & { readonly runId: string }, CompletedRow> =>
  compile((param) => {
    const query = outlined
      .where('run_id', '=', param('runId'))
      .where(sql<SqlBool>`status = 'completed'`)
      .$if(page.cursor !== undefined, (query) =>
        query.where('seq', page.order === 'asc' ? '>' : '<', param('afterRank')),
      )
      .orderBy('seq', page.order)
      .limit(param('limit'))
    return query as unknown as Compilable<CompletedRow>
  })

/** A part of the calls of a run, without their results. */
const briefRange = (param: Param<{ runId: string; after: number; limit: number }>) =>
  briefly.where('run_id', '=', param('runId')).where('seq', '>', param('after')).orderBy('seq').limit(param('limit'))

/** The status is a literal, so that the partial indexes apply. */
const isWaiting = sql<SqlBool>`status = 'waiting'`
const waiting = steps.where(isWaiting)

export const STEP_QUERIES = {
  ofRun: compile<{ runId: string }, StepRow>((param) => steps.where('run_id', '=', param('runId')).orderBy('seq')),
  ofRunBriefly: compile<{ runId: string }, StepRow>(
    (param) => briefly.where('run_id', '=', param('runId')).orderBy('seq') as unknown as Compilable<StepRow>,
  ),
  briefRange: compile<{ runId: string; after: number; limit: number }, StepRow>(
    (param) => briefRange(param) as unknown as Compilable<StepRow>,
  ),
  briefRangeByStatus: compile<{ runId: string; after: number; limit: number; status: StepStatus }, StepRow>(
    (param) => briefRange(param).where('status', '=', param('status')) as unknown as Compilable<StepRow>,
  ),
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

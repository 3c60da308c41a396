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
import type { Connection } from '../connection/connection.ts'
import { compile, from } from '../query/compile.ts'
import { earlierClock } from '../query/earlier-clock.ts'

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

export const listSteps = async (db: Connection, { runId, content }: StepListRequest): Promise<readonly StepRecord[]> =>
  (await db.all(content?.results === false ? STEP_QUERIES.ofRunBriefly : STEP_QUERIES.ofRun, { runId })).map(toStep)

export interface BriefStepsRequest extends StepRange {
  readonly runId: string
}

export async function briefSteps(
  db: Connection,
  { runId, after, limit, status }: BriefStepsRequest,
): Promise<readonly StepRecord[]> {
  const range = { runId, after, limit }
  const rows =
    status === undefined
      ? await db.all(STEP_QUERIES.briefRange, range)
      : await db.all(STEP_QUERIES.briefRangeByStatus, { ...range, status })
  return takeWithinPage(rows, limit, rowBytes).items.map(toStep)
}

export async function completedSteps(
  db: Connection,
  request: { runId: string; page: PageQuery },
): Promise<Page<UnreadStep>> {
  const { runId, page } = request
  const query = db.variant(`completed steps ${pageVariant(page)}`, () => completedQuery(page))
  const rows = await db.all(query, { runId, ...pageValues(page) })
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

export const findStep = async (db: Connection, ref: StepRef): Promise<StepRecord | undefined> =>
  toStepIfAny(await db.get(STEP_QUERIES.bySeq, ref))

export const dueSteps = async (
  db: Connection,
  until: { now: EpochMs; limit: number },
): Promise<readonly StepRecord[]> => (await db.all(STEP_QUERIES.due, until)).map(toStep)

export const nextDueAt = async (db: Connection): Promise<EpochMs | undefined> =>
  (await db.get(STEP_QUERIES.nextDue, {}))?.due_at as EpochMs | undefined

export async function stepsWaitingForEvent(
  db: Connection,
  { eventName, limit, runId }: EventWaiters,
): Promise<readonly StepRecord[]> {
  const rows =
    runId === undefined
      ? await db.all(STEP_QUERIES.forEvent, { eventName, limit })
      : await db.all(STEP_QUERIES.forEventInRun, { eventName, limit, runId })
  return rows.map(toStep)
}

export const stepWaitingForChild = async (db: Connection, childRunId: string): Promise<StepRecord | undefined> =>
  toStepIfAny(await db.get(STEP_QUERIES.forChild, { childRunId }))

const steps = from.selectFrom('steps').selectAll()

/** The columns of a call without its result and its error. */
const briefly = from
  .selectFrom('steps')
  .select(['key', 'run_id', ...STEP_COLUMNS.filter((name) => name !== 'result' && name !== 'error')])

const outlined = from
  .selectFrom('steps')
  .select(['key', 'run_id', 'run_id as id'])
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
    waiting
      .where('due_at', '<=', earlierClock(param('now')))
      .orderBy('due_at')
      .orderBy('steps.key')
      .limit(param('limit')),
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

import {
  type EndedRange,
  type EpochMs,
  type EventWaitRange,
  type Page,
  type PageQuery,
  type PageStart,
  type StepPartRange,
  type StepRange,
  type StepRecord,
  type StepStatus,
  takeWithin,
  takeWithinPage,
} from '@perdure/ports'
import { type SqlBool, sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, type Param, type Query } from '../query/compile.ts'
import type { Db, Dialect } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { type LongTextColumns, longText, outlinedBytes, toText, type WithUnread } from '../query/long-text.ts'
import { type PageValues, pageValues, pageVariant, rowBytes, toPage } from '../query/page.ts'
import { STEP_COLUMNS, type StepRow, toStep } from './step-row.ts'

export interface StepRef {
  readonly runId: string
  readonly seq: number
}

export interface EventWaiters extends EventWaitRange {
  readonly eventName: string
}

export interface StepListRequest {
  readonly runId: string
  readonly content?: { readonly results: boolean } | undefined
}

export function* listSteps(db: Db, { runId, content }: StepListRequest): Program<readonly StepRecord[]> {
  return (yield* db.all(content?.results === false ? STEP_QUERIES.ofRunBriefly : STEP_QUERIES.ofRun, { runId })).map(
    toStep,
  )
}

export interface StepPartRequest extends StepPartRange {
  readonly runId: string
}

export function* readSteps(db: Db, { runId, after, limit, maxBytes }: StepPartRequest): Program<PageStart<StepRecord>> {
  const rows = yield* db.each(STEP_QUERIES.part, { runId, after, limit: limit + 1, maxStored: maxBytes * 2 })
  const { items, hasMore } = takeWithin(rows, { limit, maxBytes }, rowBytes)
  return { items: items.map(toStep), hasMore }
}

export interface BriefStepsRequest extends StepRange {
  readonly runId: string
}

export function* briefSteps(
  db: Db,
  { runId, after, limit, status }: BriefStepsRequest,
): Program<readonly StepRecord[]> {
  const range = { runId, after, limit }
  const rows =
    status === undefined
      ? yield* db.each(STEP_QUERIES.briefRange, range)
      : yield* db.each(STEP_QUERIES.briefRangeByStatus, { ...range, status })
  return takeWithinPage(rows, limit, rowBytes).items.map(toStep)
}

export interface EndedStepsRequest extends EndedRange {
  readonly runId: string
}

export function* endedSteps(db: Db, { runId, after, limit }: EndedStepsRequest): Program<PageStart<StepRecord>> {
  const rows = yield* db.each(STEP_QUERIES.ended, { runId, after, limit: limit + 1 })
  const { items, hasMore } = takeWithinPage(rows, limit, rowBytes)
  return { items: items.map(toStep), hasMore }
}

export function* completedSteps(db: Db, request: { runId: string; page: PageQuery }): Program<Page<UnreadStep>> {
  const { runId, page } = request
  const query = db.variant(`completed steps ${pageVariant(page)}`, () => completedQuery(page))
  const rows = yield* db.each(query, { runId, ...pageValues(page) })
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

export function* findStep(db: Db, ref: StepRef): Program<StepRecord | undefined> {
  return toStepIfAny(yield* db.get(STEP_QUERIES.bySeq, ref))
}

export function* dueSteps(db: Db, until: { now: EpochMs; limit: number }): Program<readonly StepRecord[]> {
  return (yield* db.all(STEP_QUERIES.due, until)).map(toStep)
}

export function* nextDueAt(db: Db): Program<EpochMs | undefined> {
  return (yield* db.get(STEP_QUERIES.nextDue, {}))?.due_at as EpochMs | undefined
}

export function* stepsWaitingForEvent(
  db: Db,
  { eventName, limit, after, runId }: EventWaiters,
): Program<readonly StepRecord[]> {
  const { startedAt: since = 0, runId: afterRunId = '', seq: afterSeq = 0 } = after ?? {}
  const range = { eventName, limit, since, afterRunId, afterSeq }
  const rows =
    runId === undefined
      ? yield* db.all(STEP_QUERIES.forEvent, range)
      : yield* db.all(STEP_QUERIES.forEventInRun, { ...range, runId })
  return rows.map(toStep)
}

export function* stepWaitingForChild(db: Db, childRunId: string): Program<StepRecord | undefined> {
  return toStepIfAny(yield* db.get(STEP_QUERIES.forChild, { childRunId }))
}

/** Steps with all columns. */
const wholeSteps = ({ run }: Dialect) => from.selectFrom('steps').selectAll().select(run.idOf('steps').as('run_id'))

/** Steps without their result and their error. */
const briefly = ({ run }: Dialect) =>
  from
    .selectFrom('steps')
    .select(run.idOf('steps').as('run_id'))
    .select(['key', ...STEP_COLUMNS.filter((name) => name !== 'result' && name !== 'error')])

const outlined = ({ run }: Dialect) =>
  from
    .selectFrom('steps')
    .select([run.idOf('steps').as('run_id'), run.idOf('steps').as('id')])
    .select(['key', ...STEP_COLUMNS.filter((name) => name !== 'result')])
    .select(longText('result', 'steps'))

/** What a query of the steps of a run is built of. */
interface StepQuery<Values> {
  readonly param: Param<Values>
  readonly dialect: Dialect
}

/** A page of steps is ordered by `seq` alone, because the run is the same; `id` completes the cursor. */
export const completedQuery = (page: PageQuery): Query<PageValues & { readonly runId: string }, CompletedRow> =>
  compile((param, dialect) => {
    const query = outlined(dialect)
      .where(dialect.run.column, '=', dialect.run.of(param('runId')))
      .where(sql<SqlBool>`status = 'completed'`)
      .$if(page.cursor !== undefined, (query) =>
        query.where('seq', page.order === 'asc' ? '>' : '<', param('afterRank')),
      )
      .orderBy('seq', page.order)
      .limit(param('limit'))
    return query.$castTo<CompletedRow>()
  })

/** A part of the calls of a run, without their results. */
const briefRange = ({ param, dialect }: StepQuery<{ runId: string; after: number; limit: number }>) =>
  briefly(dialect)
    .where(dialect.run.column, '=', dialect.run.of(param('runId')))
    .where('seq', '>', param('after'))
    .orderBy('seq')
    .limit(param('limit'))

/** The status is a literal, so that the partial indexes apply. */
const IS_WAITING = sql<SqlBool>`status = 'waiting'`
const waiting = (dialect: Dialect) => wholeSteps(dialect).where(IS_WAITING)

interface EventWaitValues {
  readonly eventName: string
  readonly limit: number
  readonly since: number
  readonly afterRunId: string
  readonly afterSeq: number
}

/** Waits that started in the same millisecond are ordered by their key. If the last call is deleted, they are read again. */
const waitingForEvent = ({ param, dialect }: StepQuery<EventWaitValues>) => {
  const { run } = dialect
  const last = sql<number>`(select key from steps where ${sql.ref(run.column)} = ${run.of(param('afterRunId'))} and seq = ${param('afterSeq')})`
  return waiting(dialect)
    .where('event_name', '=', param('eventName'))
    .where('started_at', '>=', param('since'))
    .where(sql<SqlBool>`(started_at > ${param('since')} or steps.key > coalesce(${last}, 0))`)
    .orderBy('started_at')
    .orderBy('steps.key')
    .limit(param('limit'))
}

export const STEP_QUERIES = {
  ofRun: compile<{ runId: string }, StepRow>((param, dialect) =>
    wholeSteps(dialect)
      .where(dialect.run.column, '=', dialect.run.of(param('runId')))
      .orderBy('seq'),
  ),
  ofRunBriefly: compile<{ runId: string }, StepRow>((param, dialect) =>
    briefly(dialect)
      .where(dialect.run.column, '=', dialect.run.of(param('runId')))
      .orderBy('seq')
      .$castTo<StepRow>(),
  ),
  /** `maxStored`: bytes of the texts as they are stored, which may be escaped. */
  part: compile<{ runId: string; after: number; limit: number; maxStored: number }, StepRow>((param, dialect) => {
    const query = wholeSteps(dialect)
      .where(dialect.run.column, '=', dialect.run.of(param('runId')))
      .where('seq', '>', param('after'))
      .orderBy('seq')
      .limit(param('limit'))
      .$castTo<StepRow>()
    return dialect.bounded(query, ['result', 'error'], sql`cast(${param('maxStored')} as double precision)`)
  }),
  briefRange: compile<{ runId: string; after: number; limit: number }, StepRow>((param, dialect) =>
    briefRange({ param, dialect }).$castTo<StepRow>(),
  ),
  briefRangeByStatus: compile<{ runId: string; after: number; limit: number; status: StepStatus }, StepRow>(
    (param, dialect) => briefRange({ param, dialect }).where('status', '=', param('status')).$castTo<StepRow>(),
  ),
  ended: compile<{ runId: string; after: number; limit: number }, StepRow>((param, dialect) =>
    briefly(dialect)
      .where(dialect.run.column, '=', dialect.run.of(param('runId')))
      .where('order', '>', param('after'))
      .orderBy('order')
      .limit(param('limit'))
      .$castTo<StepRow>(),
  ),
  bySeq: compile<StepRef, StepRow>((param, dialect) =>
    wholeSteps(dialect)
      .where(dialect.run.column, '=', dialect.run.of(param('runId')))
      .where('seq', '=', param('seq')),
  ),
  due: compile<{ now: number; limit: number }, StepRow>((param, dialect) =>
    waiting(dialect)
      .where('due_at', '<=', dialect.earlierClock(param('now')))
      .orderBy('due_at')
      .orderBy('steps.key')
      .limit(param('limit')),
  ),
  nextDue: compile<object, { due_at: number | null }>(() =>
    from
      .selectFrom('steps')
      .select('due_at')
      .where(IS_WAITING)
      .where('due_at', 'is not', null)
      .orderBy('due_at')
      .limit((eb) => eb.lit(1)),
  ),
  forEvent: compile<EventWaitValues, StepRow>((param, dialect) => waitingForEvent({ param, dialect })),
  forEventInRun: compile<EventWaitValues & { runId: string }, StepRow>((param, dialect) =>
    waitingForEvent({ param, dialect }).where(dialect.run.column, '=', dialect.run.of(param('runId'))),
  ),
  forChild: compile<{ childRunId: string }, StepRow>((param, dialect) =>
    waiting(dialect).where('child_run_id', '=', param('childRunId')),
  ),
}

const toStepIfAny = (row: StepRow | undefined): StepRecord | undefined => (row === undefined ? undefined : toStep(row))

import {
  type EpochMs,
  type Page,
  type PageQuery,
  type StepRecord,
  type StepStatus,
  type StepStore,
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
import { selectFirst } from '../query/table-queries.ts'
import type { Reads } from '../reads.ts'
import { STEPS, type StepRow, toStep } from './step-row.ts'

export interface StepRef {
  readonly runId: string
  readonly seq: number
}

export const stepReads: Reads<Omit<StepStore, 'completed'>> = {
  *list(db, runId, content) {
    const query = content?.results === false ? STEP_QUERIES.ofRunBriefly : STEP_QUERIES.ofRun
    return (yield* db.all(query, { runId })).map(toStep)
  },
  *read(db, runId, { after, limit, maxBytes }) {
    const rows = yield* db.each(STEP_QUERIES.part, { runId, after, limit: limit + 1, maxStored: maxBytes * 2 })
    const { items, hasMore } = takeWithin(rows, { limit, maxBytes }, rowBytes)
    return { items: items.map(toStep), hasMore }
  },
  *listBriefly(db, runId, { after, limit, status }) {
    const range = { runId, after, limit }
    const rows =
      status === undefined
        ? yield* db.each(STEP_QUERIES.briefRange, range)
        : yield* db.each(STEP_QUERIES.briefRangeByStatus, { ...range, status })
    return takeWithinPage(rows, limit, rowBytes).items.map(toStep)
  },
  *ended(db, runId, { after, limit }) {
    const rows = yield* db.each(STEP_QUERIES.ended, { runId, after, limit: limit + 1 })
    const { items, hasMore } = takeWithinPage(rows, limit, rowBytes)
    return { items: items.map(toStep), hasMore }
  },
  *find(db, runId, seq) {
    const row = yield* db.get(STEP_QUERIES.bySeq, { runId, seq })
    return row && toStep(row)
  },
  *due(db, now, limit) {
    return (yield* db.all(STEP_QUERIES.due, { now, limit })).map(toStep)
  },
  *nextDueAt(db) {
    return (yield* db.get(STEP_QUERIES.nextDue, {}))?.due_at as EpochMs | undefined
  },
  *waitingForEvent(db, eventName, { limit, after, runId }) {
    const { startedAt: since = 0, runId: afterRunId = '', seq: afterSeq = 0 } = after ?? {}
    const range = { eventName, limit, since, afterRunId, afterSeq }
    const rows =
      runId === undefined
        ? yield* db.all(STEP_QUERIES.forEvent, range)
        : yield* db.all(STEP_QUERIES.forEventInRun, { ...range, runId })
    return rows.map(toStep)
  },
  *waitingForChild(db, childRunId) {
    const row = yield* db.get(STEP_QUERIES.forChild, { childRunId })
    return row && toStep(row)
  },
}

export function* completedSteps(db: Db, runId: string, page: PageQuery): Program<Page<UnreadStep>> {
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

/** Steps with all columns. */
const wholeSteps = ({ run }: Dialect) => from.selectFrom('steps').selectAll().select(run.idOf('steps').as('run_id'))

/** Steps without their result and their error. */
const briefly = ({ run }: Dialect) =>
  from
    .selectFrom('steps')
    .select(run.idOf('steps').as('run_id'))
    .select(['key', ...STEPS.columns.filter((name) => name !== 'result' && name !== 'error')])

const outlined = ({ run }: Dialect) =>
  from
    .selectFrom('steps')
    .select([run.idOf('steps').as('run_id'), run.idOf('steps').as('id')])
    .select(['key', ...STEPS.columns.filter((name) => name !== 'result')])
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
  nextDue: selectFirst('due_at', 'steps', () => [IS_WAITING]),
  forEvent: compile<EventWaitValues, StepRow>((param, dialect) => waitingForEvent({ param, dialect })),
  forEventInRun: compile<EventWaitValues & { runId: string }, StepRow>((param, dialect) =>
    waitingForEvent({ param, dialect }).where(dialect.run.column, '=', dialect.run.of(param('runId'))),
  ),
  forChild: compile<{ childRunId: string }, StepRow>((param, dialect) =>
    waiting(dialect).where('child_run_id', '=', param('childRunId')),
  ),
}

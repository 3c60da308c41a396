import {
  type EpochMs,
  EVERY_ROW,
  type Page,
  type PageQuery,
  type RunFilter,
  type RunRecord,
  type RunStatus,
  type Visibility,
} from '@perdure/ports'
import { ACTIVE_RUN_STATUSES, ENDED_RUN_STATUSES } from '@perdure/protocol'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Connection } from '../file/connection.ts'
import { compile, from, type Param, type Query } from '../query/compile.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, toPage } from '../query/page.ts'
import {
  type AccessTests,
  type AccessValues,
  accessValues,
  isVisible,
  unindexed,
  visibilityVariant,
} from '../query/row-visibility.ts'
import { statusList } from '../query/run-status.ts'
import { type RunRow, toRun } from './run-row.ts'

export interface RunListRequest {
  readonly filter: RunFilter
  readonly page: PageQuery
  readonly visibility: Visibility
}

export function findRun(db: Connection, request: { id: string; visibility: Visibility }): RunRecord | undefined {
  const { id, visibility } = request
  const query = db.variant(`run ${visibilityVariant(visibility)}`, () => findQuery(visibility))
  const row = db.get(query, { ...accessValues(visibility), id })
  return row === undefined ? undefined : toRun(row)
}

export const findAnyRun = (db: Connection, id: string): RunRecord | undefined =>
  findRun(db, { id, visibility: EVERY_ROW })

export function listRuns(db: Connection, request: RunListRequest): Page<RunRecord> {
  const { filter, page, visibility } = request
  const query = db.variant(listVariant(request), () => listQuery(request))
  const { kind = 'agent', targetId = '', threadId = '', sessionId = '', parentRunId = '', since = 0 } = filter
  const named = { kind, targetId, threadId, sessionId, parentRunId, since }
  const values = { ...named, ...pageValues(page), ...accessValues(visibility) }
  return toPage(db.all(query, values), page, { toRecord: toRun, rankOf: (row) => row.created_at })
}

export const runsPastDeadline = (db: Connection, until: { now: EpochMs; limit: number }): readonly RunRecord[] =>
  db.all(PAST_DEADLINE, until).map(toRun)

export const nextDeadlineAt = (db: Connection): EpochMs | undefined =>
  db.get(NEXT_DEADLINE, {})?.deadline_at as EpochMs | undefined

type FindValues = AccessValues & { readonly id: string }
type ListValues = AccessValues & PageValues & Required<Omit<RunFilter, 'statuses'>>

const RUN_ACCESS: AccessTests = {
  owner: (matches) => matches('owner'),
  ids: (matches) => sql`key in (select key from run_keys where ${matches('run_id')})`,
  agentIds: (matches) => sql`kind = 'agent' and ${matches('target_id')}`,
  workflowIds: (matches) => sql`kind = 'workflow' and ${matches('target_id')}`,
}

const findQuery = (visibility: Visibility): Query<FindValues, RunRow> =>
  compile((param) =>
    from
      .selectFrom('runs')
      .selectAll()
      .where('key', '=', from.selectFrom('run_keys').select('key').where('run_id', '=', param('id')))
      .where(isVisible(visibility, RUN_ACCESS, param)),
  )

/** The column for each field of a filter. */
const FILTER_COLUMNS = {
  kind: 'kind',
  targetId: 'target_id',
  threadId: 'thread_id',
  sessionId: 'session_id',
  parentRunId: 'parent_run_id',
} as const

const NAMED = Object.keys(FILTER_COLUMNS) as (keyof typeof FILTER_COLUMNS)[]

function filterConditions(filter: RunFilter, param: Param<ListValues>): RawBuilder<SqlBool>[] {
  return NAMED.filter((name) => filter[name] !== undefined).map((name) => {
    const condition = sql<SqlBool>`(${sql.ref(FILTER_COLUMNS[name])} = ${param(name)})`
    return name === 'targetId' ? unindexedIfFew(filter, condition) : condition
  })
}

/**
 * If the filter already leaves few runs (active, or of one thread, session or parent), hides `condition` from the
 * planner.
 */
function unindexedIfFew(filter: RunFilter, condition: RawBuilder<SqlBool>): RawBuilder<SqlBool> {
  const { threadId, sessionId, parentRunId, statuses } = filter
  const isActive = statuses?.every((status) => ACTIVE_RUN_STATUSES.includes(status)) ?? false
  const isFew = isActive || (threadId ?? sessionId ?? parentRunId) !== undefined
  return isFew ? unindexed(condition) : condition
}

const listVariant = ({ filter, page, visibility }: RunListRequest): string => {
  const given = [...NAMED, 'since' as const].map((name) => (filter[name] === undefined ? '-' : '+')).join('')
  return `runs ${filter.statuses?.join()} ${given} ${pageVariant(page)} ${visibilityVariant(visibility)}`
}

/** The query for one combination of filters. Statuses are literals, so that the partial indexes apply. */
export function listQuery({ filter, page, visibility }: RunListRequest): Query<ListValues, RunRow> {
  return compile((param) => {
    const { statuses, since } = filter
    const conditions = [
      ...filterConditions(filter, param),
      unindexedIfFew(filter, isVisible(visibility, RUN_ACCESS, param)),
    ]
    if (statuses !== undefined) conditions.push(...hasStatus(statuses))
    if (since !== undefined) conditions.push(sql`created_at >= ${param('since')}`)
    if (page.cursor !== undefined) conditions.push(isBeyond(param, page))
    return from
      .selectFrom('runs')
      .selectAll()
      .where((eb) => eb.and(conditions))
      .orderBy('created_at', page.order)
      .orderBy('id', page.order)
      .limit(param('limit'))
  })
}

/** The status sets of the partial indexes, in the order of the migration. */
const UNSUCCESSFUL: readonly RunStatus[] = ['failed', 'aborted']

/**
 * For one status the planner uses a partial index by itself; for several it needs the exact `WHERE` text of the index.
 */
function hasStatus(statuses: readonly RunStatus[]): readonly RawBuilder<SqlBool>[] {
  if (statuses.length === 0) return [sql`false`]
  const indexed = [ACTIVE_RUN_STATUSES, UNSUCCESSFUL].filter((set) => statuses.every((status) => set.includes(status)))
  return [isOneOf(statuses), ...(statuses.length === 1 ? [] : indexed.map((set) => isOneOf(set)))]
}

export const isOneOf = (statuses: readonly RunStatus[], column = 'status'): RawBuilder<SqlBool> =>
  sql`(${sql.join(
    statuses.map((status) => sql`${sql.ref(column)} = ${sql.lit(status)}`),
    sql` or `,
  )})`

/** The exact `WHERE` text of the partial index on deadlines. */
const HAS_NOT_ENDED = sql<SqlBool>`status not in (${statusList(ENDED_RUN_STATUSES)})`

export const PAST_DEADLINE = compile<{ now: number; limit: number }, RunRow>((param) =>
  from
    .selectFrom('runs')
    .selectAll()
    .where(HAS_NOT_ENDED)
    .where('deadline_at', '<=', param('now'))
    .orderBy('deadline_at')
    .limit(param('limit')),
)

export const NEXT_DEADLINE = compile<object, { deadline_at: number | null }>(() =>
  from
    .selectFrom('runs')
    .select('deadline_at')
    .where(HAS_NOT_ENDED)
    .where('deadline_at', 'is not', null)
    .orderBy('deadline_at')
    .limit((eb) => eb.lit(1)),
)

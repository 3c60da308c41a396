import {
  type EpochMs,
  EVERY_ROW,
  type JsonText,
  type Page,
  type PageQuery,
  type RunFilter,
  type RunRecord,
  type RunStatus,
  type Visibility,
} from '@perdure/ports'
import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import type { Connection } from './connection.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, toPage } from './page.ts'
import { compile, from, type Place, type Query } from './query.ts'
import {
  type AccessTests,
  type AccessValues,
  accessValues,
  isVisible,
  unindexed,
  visibilityVariant,
} from './row-visibility.ts'
import type { RunTable } from './schema.ts'

export interface RunListRequest {
  readonly filter: RunFilter
  readonly page: PageQuery
  readonly visibility: Visibility
}

export function findRun(db: Connection, request: { id: string; visibility: Visibility }): RunRecord | undefined {
  const { id, visibility } = request
  const query = db.variant(`run ${visibilityVariant(visibility)}`, () => findQuery(visibility))
  const row = db.get(query, { ...accessValues(visibility), id })
  return row === undefined ? undefined : toRecord(row)
}

export const findAnyRun = (db: Connection, id: string): RunRecord | undefined =>
  findRun(db, { id, visibility: EVERY_ROW })

export function listRuns(db: Connection, request: RunListRequest): Page<RunRecord> {
  const { filter, page, visibility } = request
  const query = db.variant(listVariant(request), () => listQuery(request))
  const { kind = 'agent', targetId = '', threadId = '', sessionId = '', parentRunId = '', since = 0 } = filter
  const named = { kind, targetId, threadId, sessionId, parentRunId, since }
  const values = { ...named, ...pageValues(page), ...accessValues(visibility) }
  return toPage(db.all(query, values), page, { toRecord, rankOf: (row) => row.created_at })
}

export const runsPastDeadline = (db: Connection, until: { now: EpochMs; limit: number }): readonly RunRecord[] =>
  db.all(PAST_DEADLINE, until).map(toRecord)

export const nextDeadlineAt = (db: Connection): EpochMs | undefined =>
  db.get(NEXT_DEADLINE, {})?.deadline_at as EpochMs | undefined

type RunRow = Selectable<RunTable>
type FindValues = AccessValues & { readonly id: string }
type ListValues = AccessValues & PageValues & Required<Omit<RunFilter, 'statuses'>>

const RUN_ACCESS: AccessTests = {
  owner: (matches) => matches('owner'),
  ids: (matches) => sql`key in (select key from run_keys where ${matches('run_id')})`,
  agentIds: (matches) => sql`kind = 'agent' and ${matches('target_id')}`,
  workflowIds: (matches) => sql`kind = 'workflow' and ${matches('target_id')}`,
}

const findQuery = (visibility: Visibility): Query<FindValues, RunRow> =>
  compile((place) =>
    from
      .selectFrom('runs')
      .selectAll()
      .where('key', '=', from.selectFrom('run_keys').select('key').where('run_id', '=', place('id')))
      .where(isVisible(visibility, RUN_ACCESS, place)),
  )

/** The columns that a filter compares with its members of these names. */
const FILTER_COLUMNS = {
  kind: 'kind',
  targetId: 'target_id',
  threadId: 'thread_id',
  sessionId: 'session_id',
  parentRunId: 'parent_run_id',
} as const

const NAMED = Object.keys(FILTER_COLUMNS) as (keyof typeof FILTER_COLUMNS)[]

function belongsTo(filter: RunFilter, place: Place<ListValues>): RawBuilder<SqlBool>[] {
  return NAMED.filter((name) => filter[name] !== undefined).map((name) => {
    const condition = sql<SqlBool>`(${sql.ref(FILTER_COLUMNS[name])} = ${place(name)})`
    return name === 'targetId' ? among(filter, condition) : condition
  })
}

/** Few runs are active or of one thread, session or parent: then no further condition may decide which index is walked. */
function among(filter: RunFilter, condition: RawBuilder<SqlBool>): RawBuilder<SqlBool> {
  const { threadId, sessionId, parentRunId, statuses } = filter
  const isActive = statuses?.every((status) => ACTIVE.includes(status)) ?? false
  const isFew = isActive || (threadId ?? sessionId ?? parentRunId) !== undefined
  return isFew ? unindexed(condition) : condition
}

const listVariant = ({ filter, page, visibility }: RunListRequest): string => {
  const given = [...NAMED, 'since' as const].map((name) => (filter[name] === undefined ? '-' : '+')).join('')
  return `runs ${filter.statuses?.join()} ${given} ${pageVariant(page)} ${visibilityVariant(visibility)}`
}

/** The list of one combination of filters. Statuses stand in it as literals, so that the partial indexes apply. */
export function listQuery({ filter, page, visibility }: RunListRequest): Query<ListValues, RunRow> {
  return compile((place) => {
    const { statuses, since } = filter
    const conditions = [...belongsTo(filter, place), among(filter, isVisible(visibility, RUN_ACCESS, place))]
    if (statuses !== undefined) conditions.push(...hasStatus(statuses))
    if (since !== undefined) conditions.push(sql`created_at >= ${place('since')}`)
    if (page.cursor !== undefined) conditions.push(isBeyond(place, page))
    return from
      .selectFrom('runs')
      .selectAll()
      .where((eb) => eb.and(conditions))
      .orderBy('created_at', page.order)
      .orderBy('id', page.order)
      .limit(place('limit'))
  })
}

/** The sets of the partial indexes, in the order of the migration. */
export const ACTIVE: readonly RunStatus[] = ['queued', 'running', 'suspended']
const UNSUCCESSFUL: readonly RunStatus[] = ['failed', 'aborted']

/** The planner takes a partial index for one status of its set, and for several only beside the words of its `WHERE`. */
function hasStatus(statuses: readonly RunStatus[]): readonly RawBuilder<SqlBool>[] {
  if (statuses.length === 0) return [sql`false`]
  const indexed = [ACTIVE, UNSUCCESSFUL].filter((set) => statuses.every((status) => set.includes(status)))
  return [isOneOf(statuses), ...(statuses.length === 1 ? [] : indexed.map((set) => isOneOf(set)))]
}

export const isOneOf = (statuses: readonly RunStatus[], column = 'status'): RawBuilder<SqlBool> =>
  sql`(${sql.join(
    statuses.map((status) => sql`${sql.ref(column)} = ${sql.lit(status)}`),
    sql` or `,
  )})`

/** In the words of the partial index, which holds no more than the runs that have a deadline. */
const HAS_NOT_ENDED = sql<SqlBool>`status not in ('completed', 'failed', 'aborted')`

export const PAST_DEADLINE = compile<{ now: number; limit: number }, RunRow>((place) =>
  from
    .selectFrom('runs')
    .selectAll()
    .where(HAS_NOT_ENDED)
    .where('deadline_at', '<=', place('now'))
    .orderBy('deadline_at')
    .limit(place('limit')),
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

const toRecord = (row: RunRow): RunRecord => ({
  ...toOrigin(row),
  id: row.id,
  kind: row.kind,
  targetId: row.target_id,
  owner: row.owner,
  status: row.status,
  finishReason: row.finish_reason ?? undefined,
  input: row.input as JsonText,
  result: (row.result ?? undefined) as JsonText | undefined,
  error: row.error === null ? undefined : JSON.parse(row.error),
  usage: JSON.parse(row.usage),
  budget: row.budget === null ? undefined : JSON.parse(row.budget),
  deadlineAt: (row.deadline_at ?? undefined) as EpochMs | undefined,
  attempt: row.attempt,
  timeoutMs: row.timeout_ms ?? undefined,
  suspension: (row.suspension ?? undefined) as JsonText | undefined,
  resumption: (row.resumption ?? undefined) as JsonText | undefined,
  metadata: JSON.parse(row.metadata),
  createdAt: row.created_at as EpochMs,
  startedAt: (row.started_at ?? undefined) as EpochMs | undefined,
  suspendedAt: (row.suspended_at ?? undefined) as EpochMs | undefined,
  completedAt: (row.completed_at ?? undefined) as EpochMs | undefined,
})

/** Whence the run comes and what it belongs to. */
const toOrigin = (row: RunRow) => ({
  threadId: row.thread_id ?? undefined,
  sessionId: row.session_id ?? undefined,
  userId: row.user_id ?? undefined,
  depth: row.depth,
  parentRunId: row.parent_run_id ?? undefined,
  parentSeq: row.parent_seq ?? undefined,
  triggerId: row.trigger_id ?? undefined,
  traceparent: row.traceparent ?? undefined,
})

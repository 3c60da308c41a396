import { filterFields, type RunFilter, type RunStatus, type Visibility } from '@perdure/ports'
import { ACTIVE_RUN_STATUSES } from '@perdure/protocol'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Param } from '../query/compile.ts'
import type { Dialect } from '../query/dialect.ts'
import {
  type FieldIndex,
  type FieldPath,
  type FieldValues,
  fieldConditions,
  fieldValues,
  isFieldPath,
  type PathRows,
} from '../query/list-path.ts'
import { type AccessTests, type AccessValues, hasIndex, isVisible } from '../query/row-visibility.ts'

type Condition = RawBuilder<SqlBool>

/** The column for each field of a filter that has a column with an index. */
const FILTER_COLUMNS = {
  kind: 'kind',
  targetId: 'target_id',
  threadId: 'thread_id',
  sessionId: 'session_id',
  parentRunId: 'parent_run_id',
  owner: 'owner',
} as const

type ColumnName = keyof typeof FILTER_COLUMNS
const COLUMN_NAMES = Object.keys(FILTER_COLUMNS) as ColumnName[]

/** The names differ from those of the visibility conditions, which have an `owner` too. */
type ColumnValues = Readonly<Record<`${ColumnName}Filter`, string>>

/** The parameters of the conditions of a filter. */
export type FilterValues = ColumnValues &
  FieldValues & { readonly since: number; readonly until: number; readonly idsFilter: readonly string[] }

/** An index that a list can walk; it belongs to one condition of the filter. */
export type RunPath =
  | Exclude<ColumnName, 'kind'>
  | FieldPath
  | 'ids'
  | 'isParked'
  | 'roots'
  | 'turns'
  | 'active'
  | 'unsuccessful'
  | 'visible'

export interface FilteredRuns {
  readonly filter: RunFilter
  readonly visibility: Visibility
}

const RUN_FIELDS: FieldIndex = { table: 'run_fields', createdAt: 'run_at', records: 'runs' }

const accessOf = ({ run }: Dialect): AccessTests => ({
  owner: (matches) => matches('owner'),
  ids: run.has,
  agentIds: (matches) => sql`kind = 'agent' and ${matches('target_id')}`,
  workflowIds: (matches) => sql`kind = 'workflow' and ${matches('target_id')}`,
})

/** The parameters of a query of runs, and its dialect. */
interface RunQuery {
  readonly param: Param<FilterValues & AccessValues>
  readonly dialect: Dialect
}

export const isVisibleRun = (
  visibility: Visibility,
  query: { readonly param: Param<AccessValues>; readonly dialect: Dialect },
): Condition => isVisible(visibility, accessOf(query.dialect), query)

/** Cache key of the conditions that a filter adds to a query. */
export function filterVariant(filter: RunFilter): string {
  const given = [...COLUMN_NAMES, 'since', 'until', 'ids', 'isParked', 'isRoot', 'isTurn'] as const
  const flags = given.map((name) => (filter[name] === undefined ? '-' : '+')).join('')
  return `${filter.statuses?.join()} ${flags} ${isCompleted(filter)} ${filterFields(filter).length}`
}

export function filterValues(filter: RunFilter, dialect: Dialect): FilterValues {
  const columns = Object.fromEntries(COLUMN_NAMES.map((name) => [`${name}Filter`, filter[name] ?? '']))
  const { since = 0, until = 0, ids = [] } = filter
  const fields = fieldValues(filterFields(filter), dialect)
  return { ...(columns as ColumnValues), ...fields, since, until, idsFilter: ids }
}

/** The column with the creation time in the index that the list walks. */
export const createdColumn = (path: RunPath | undefined) => (isFieldPath(path) ? RUN_FIELDS.createdAt : 'created_at')

/** Members of a filter that match few runs: the list walks their index without counting rows. */
const FEW = ['ids', 'parentRunId', 'threadId', 'isParked', 'sessionId'] as const

/** The paths among which a list chooses, in order of preference; none if it can only walk all runs. */
export function runPaths({ filter, visibility }: FilteredRuns): readonly RunPath[] {
  if (filter.sessionId !== undefined && filter.ids === undefined) {
    if (filter.isTurn) return ['turns']
    if (filter.isRoot) return ['roots']
  }
  const few = FEW.find((name) => filter[name] !== undefined)
  if (few !== undefined) return [few]
  const has = (isPath: boolean, path: RunPath) => (isPath ? [path] : [])
  return [
    ...filterFields(filter).map((_, n): RunPath => `field${n}`),
    ...has(statusPath(filter) === 'active', 'active'),
    ...has(filter.targetId !== undefined, 'targetId'),
    ...has(filter.owner !== undefined, 'owner'),
    ...has(hasIndex(visibility), 'visible'),
    ...has(statusPath(filter) === 'unsuccessful', 'unsuccessful'),
  ]
}

/** All conditions of a list. Only the condition of its path can use an index of the runs. */
export function listConditions(
  { filter, visibility }: FilteredRuns,
  path: RunPath | undefined,
  query: RunQuery,
): Condition[] {
  const { param, dialect } = query
  const { unindexed } = dialect
  const isParked = sql<SqlBool>`(parked IS NOT NULL AND parked <> 'null' AND ${dialect.hidden('status')} = 'suspended')`
  const named = [
    ...COLUMN_NAMES.filter((name) => filter[name] !== undefined).map((name) => [name, isColumn(name, param)] as const),
    ['visible', isVisibleRun(visibility, query)] as const,
    ...(filter.ids === undefined ? [] : [['ids', isListed(query)] as const]),
    ...(filter.isParked === undefined ? [] : [['isParked', isParked] as const]),
    ...(filter.isRoot === undefined ? [] : [['isRoot', IS_ROOT] as const]),
    ...(filter.isTurn === undefined ? [] : [['isTurn', IS_TURN] as const]),
  ]
  const fields = filterFields(filter)
  return [
    ...fieldConditions(RUN_FIELDS, { count: fields.length, path }, query),
    ...named.map(([name, condition]) => (isOfPath(name, path) ? condition : unindexed(condition))),
    ...hasStatus(filter.statuses).map((condition) => (path === statusPath(filter) ? condition : unindexed(condition))),
    ...createdBetween(filter, createdColumn(path), param),
    ...(isCompleted(filter) ? [sql<SqlBool>`${dialect.hidden('finish_reason')} = 'completed'`] : []),
  ]
}

/** The indexes on roots and on turns cover two conditions. */
const isOfPath = (name: string, path: RunPath | undefined): boolean =>
  name === path ||
  (path === 'roots' && (name === 'sessionId' || name === 'isRoot')) ||
  (path === 'turns' && (name === 'sessionId' || name === 'isTurn'))

/** The rows of the index of one path, whatever the other conditions of the filter. */
export function rowsOfPath({ filter, visibility }: FilteredRuns, path: RunPath, query: RunQuery): PathRows {
  const { param, dialect } = query
  const created = createdBetween(filter, createdColumn(path), param)
  if (isFieldPath(path)) {
    const fields = fieldConditions(RUN_FIELDS, { count: filterFields(filter).length, path }, query)
    return { table: 'run_fields', where: [...fields.filter((_, n) => path === `field${n}`), ...created] }
  }
  const where = {
    active: () => hasStatus(filter.statuses),
    unsuccessful: () => hasStatus(filter.statuses),
    visible: () => [isVisible(visibility, indexedAccess(dialect), query)],
    targetId: () => [isColumn('targetId', param)],
    owner: () => [isColumn('owner', param)],
  }[path as 'active' | 'unsuccessful' | 'visible' | 'targetId' | 'owner']()
  return { table: 'runs', where: [...where, ...created] }
}

/** Leaves out the kind, which is in no index. */
const indexedAccess = (dialect: Dialect): AccessTests => ({
  ...accessOf(dialect),
  agentIds: (matches) => matches('target_id'),
  workflowIds: (matches) => matches('target_id'),
})

const createdBetween = ({ since, until }: RunFilter, column: string, param: Param<FilterValues>): Condition[] => [
  ...(since === undefined ? [] : [sql<SqlBool>`${sql.ref(column)} >= ${param('since')}`]),
  ...(until === undefined ? [] : [sql<SqlBool>`${sql.ref(column)} < ${param('until')}`]),
]

const isColumn = (name: ColumnName, param: Param<FilterValues>): Condition =>
  sql`(${sql.ref(FILTER_COLUMNS[name])} = ${param(`${name}Filter`)})`

const isListed = ({ param, dialect }: RunQuery): Condition =>
  sql`(${accessOf(dialect).ids((column) => dialect.isOneOf(column, param('idsFilter')))})`

const isCompleted = ({ finishReason }: RunFilter): boolean => finishReason === 'completed'

/** The exact `WHERE` text of the partial index on the runs of a session that no run has started. No other query uses it. */
const IS_ROOT = sql<SqlBool>`(coalesce(parent_run_id, '') = '')`

/** The exact `WHERE` text of the partial index on the turns of a session. */
const IS_TURN = sql<SqlBool>`(coalesce(parent_run_id, '') = '' and withdrawn_by is null)`

/** The status sets of the partial indexes, in the order of the migration. */
const UNSUCCESSFUL: readonly RunStatus[] = ['failed', 'aborted']

function statusPath({ statuses }: RunFilter): 'active' | 'unsuccessful' | undefined {
  if (statuses === undefined || statuses.length === 0) return undefined
  if (statuses.every((status) => ACTIVE_RUN_STATUSES.includes(status))) return 'active'
  return statuses.every((status) => UNSUCCESSFUL.includes(status)) ? 'unsuccessful' : undefined
}

/**
 * For one status the planner uses a partial index by itself; for several it needs the exact `WHERE` text of the index.
 */
function hasStatus(statuses: readonly RunStatus[] | undefined): readonly Condition[] {
  if (statuses === undefined) return []
  if (statuses.length === 0) return [sql`(false)`]
  const indexed = [ACTIVE_RUN_STATUSES, UNSUCCESSFUL].filter((set) => statuses.every((status) => set.includes(status)))
  return [isOneOf(statuses), ...(statuses.length === 1 ? [] : indexed.map((set) => isOneOf(set)))]
}

export const isOneOf = (statuses: readonly RunStatus[], column = 'status'): Condition =>
  sql`(${sql.join(
    statuses.map((status) => sql`${sql.ref(column)} = ${sql.lit(status)}`),
    sql` or `,
  )})`

import { filterFields, type RunField, type RunFilter, type RunStatus } from '@perdure/ports'
import { ACTIVE_RUN_STATUSES } from '@perdure/protocol'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Param } from '../query/compile.ts'
import { unindexed } from '../query/row-visibility.ts'

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

type FieldValues = Readonly<Record<`field${number}` | `value${number}`, string>>

/** The parameters of the conditions of a filter. */
export type FilterValues = ColumnValues &
  FieldValues & { readonly since: number; readonly until: number; readonly idsFilter: string }

/** Cache key of the conditions that a filter adds to a query. */
export function filterVariant(filter: RunFilter): string {
  const given = [...COLUMN_NAMES, 'since', 'until', 'ids', 'isParked'] as const
  const flags = given.map((name) => (filter[name] === undefined ? '-' : '+')).join('')
  return `${filter.statuses?.join()} ${flags} ${isCompleted(filter)} ${filterFields(filter).length}`
}

export function filterValues(filter: RunFilter): FilterValues {
  const columns = Object.fromEntries(COLUMN_NAMES.map((name) => [`${name}Filter`, filter[name] ?? '']))
  const { since = 0, until = 0, ids = [] } = filter
  return { ...(columns as ColumnValues), ...fieldValues(filter), since, until, idsFilter: JSON.stringify(ids) }
}

const fieldValues = (filter: RunFilter): FieldValues =>
  Object.fromEntries(
    filterFields(filter).flatMap(([field, value], n) => [
      [`field${n}`, field],
      [`value${n}`, value],
    ]),
  )

/** Whether the list reads the index of run fields in order, instead of an index of the runs. */
export const isFieldList = (filter: RunFilter): boolean => filterFields(filter).length > 0

/** The column with the creation time in the index that the list walks. */
export const createdColumn = (filter: RunFilter) => (isFieldList(filter) ? 'run_at' : 'created_at')

/** The conditions of a filter. `visible` is the visibility condition. */
export function filterConditions(filter: RunFilter, param: Param<FilterValues>, visible: Condition): Condition[] {
  const hide = isFieldList(filter) ? unindexed : (condition: Condition) => condition
  const createdAt = sql.ref(createdColumn(filter))
  const conditions = [
    ...fieldConditions(filterFields(filter), param),
    ...columnConditions(filter, param).map(hide),
    hide(unindexedIfFew(filter, visible)),
  ]
  if (filter.statuses !== undefined) conditions.push(...hasStatus(filter.statuses).map(hide))
  if (filter.since !== undefined) conditions.push(sql`${createdAt} >= ${param('since')}`)
  if (filter.until !== undefined) conditions.push(sql`${createdAt} < ${param('until')}`)
  if (filter.ids !== undefined) {
    const keys = sql`select key from run_keys where run_id in (select value from json_each(${param('idsFilter')}))`
    conditions.push(hide(sql`key in (${keys})`))
  }
  if (isCompleted(filter)) conditions.push(sql`+finish_reason = 'completed'`)
  if (filter.isParked === true) conditions.push(IS_PARKED)
  return conditions
}

/** The first field selects the rows of the index; the others are looked up for each run. */
const fieldConditions = (fields: readonly RunField[], param: Param<FilterValues>): Condition[] =>
  fields.map((_, n) => {
    const [field, value] = [param(`field${n}`), param(`value${n}`)]
    if (n === 0) return sql`run_fields.field = ${field} and run_fields.value = ${value}`
    return sql`exists (select 1 from run_fields as other where other.field = ${field} and other.value = ${value}
      and other.run_at = runs.created_at and other.run_key = runs.key)`
  })

const isCompleted = ({ finishReason }: RunFilter): boolean => finishReason === 'completed'

/** The exact `WHERE` text of the partial index on parked runs. */
const IS_PARKED = sql<SqlBool>`parked IS NOT NULL AND parked <> 'null' AND +status = 'suspended'`

const columnConditions = (filter: RunFilter, param: Param<FilterValues>): Condition[] =>
  COLUMN_NAMES.filter((name) => filter[name] !== undefined).map((name) => {
    const condition = sql<SqlBool>`(${sql.ref(FILTER_COLUMNS[name])} = ${param(`${name}Filter`)})`
    return name === 'targetId' || name === 'owner' ? unindexedIfFew(filter, condition) : condition
  })

/**
 * If the filter already leaves few runs (active, or of one thread, session or parent), hides `condition` from the
 * planner.
 */
function unindexedIfFew(filter: RunFilter, condition: Condition): Condition {
  const { threadId, sessionId, parentRunId, statuses, ids, isParked } = filter
  const isActive = statuses?.every((status) => ACTIVE_RUN_STATUSES.includes(status)) ?? false
  const isFew = isActive || isParked || (threadId ?? sessionId ?? parentRunId ?? ids) !== undefined
  return isFew ? unindexed(condition) : condition
}

/** The status sets of the partial indexes, in the order of the migration. */
const UNSUCCESSFUL: readonly RunStatus[] = ['failed', 'aborted']

/**
 * For one status the planner uses a partial index by itself; for several it needs the exact `WHERE` text of the index.
 */
function hasStatus(statuses: readonly RunStatus[]): readonly Condition[] {
  if (statuses.length === 0) return [sql`false`]
  const indexed = [ACTIVE_RUN_STATUSES, UNSUCCESSFUL].filter((set) => statuses.every((status) => set.includes(status)))
  return [isOneOf(statuses), ...(statuses.length === 1 ? [] : indexed.map((set) => isOneOf(set)))]
}

export const isOneOf = (statuses: readonly RunStatus[], column = 'status'): Condition =>
  sql`(${sql.join(
    statuses.map((status) => sql`${sql.ref(column)} = ${sql.lit(status)}`),
    sql` or `,
  )})`

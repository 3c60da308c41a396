import { EVERY_ROW, type RowAccess, type Visibility } from '@perdure/ports'
import type { Param } from '@perdure/sql'
import { type RawBuilder, type SqlBool, sql } from 'kysely'

type Condition = RawBuilder<SqlBool>

/** The parameters of the visibility conditions: one value, or a JSON array of values. */
export type AccessValues = Readonly<Record<keyof RowAccess, string>>

/** How one table tests each field of `RowAccess`. `matches` compares a column with the values of the field. */
export type AccessTests = {
  readonly [Field in keyof RowAccess]-?: (matches: (column: string) => Condition) => Condition
}

interface AccessPart {
  readonly field: keyof RowAccess
  readonly match: 'one' | 'many' | 'all'
  readonly value: string
}

/** Cache key of the conditions that a visibility adds to a query. */
export const visibilityVariant = (visibility: Visibility): string =>
  visibility === EVERY_ROW
    ? EVERY_ROW
    : partsOf(visibility)
        .map(({ field, match }) => `${field}:${match}`)
        .join(' ')

export const accessValues = (visibility: Visibility): AccessValues => ({
  owner: '',
  ids: '',
  agentIds: '',
  workflowIds: '',
  ...Object.fromEntries(partsOf(visibility).map(({ field, value }) => [field, value])),
})

/** The condition for the rows that a caller may see. */
export function isVisible(visibility: Visibility, tests: AccessTests, param: Param<AccessValues>): Condition {
  if (visibility === EVERY_ROW) return sql`true`
  const parts = partsOf(visibility)
  const conditions = parts.map(({ field, match }) => tests[field](matcher[match](param(field))))
  const [only] = parts
  if (only === undefined) return sql`false`
  const any = sql<SqlBool>`(${sql.join(conditions, sql` or `)})`
  return parts.length === 1 && isSelective(only) ? any : unindexed(any)
}

/** Whether an index returns the rows that a caller may see. */
export function hasIndex(visibility: Visibility): boolean {
  const [only, ...others] = partsOf(visibility)
  return only !== undefined && others.length === 0 && isSelective(only)
}

/** Whether the planner may use an index: an index returns a single value in list order, and ids match few rows. */
const isSelective = ({ field, match }: AccessPart): boolean => match === 'one' || field === 'ids'

/** The `+` makes the planner walk the list in order, instead of collecting and sorting every visible row. */
export const unindexed = (condition: Condition): Condition => sql`+${condition}`

const matcher = {
  one: (value: RawBuilder<string>) => (column: string) => sql<SqlBool>`${sql.ref(column)} = ${value}`,
  many: (values: RawBuilder<string>) => (column: string) =>
    sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${values}))`,
  all: () => (column: string) => sql<SqlBool>`${sql.ref(column)} is not null`,
}

function partsOf(visibility: Visibility): readonly AccessPart[] {
  if (visibility === EVERY_ROW) return []
  const { owner, ids, agentIds, workflowIds } = visibility
  const parts = [listPart('ids', ids), listPart('agentIds', agentIds), listPart('workflowIds', workflowIds)]
  const ownerPart: AccessPart[] = owner === undefined ? [] : [{ field: 'owner', match: 'one', value: owner }]
  return [...ownerPart, ...parts.flat()]
}

function listPart(field: keyof RowAccess, values: readonly string[] | 'all' | undefined): readonly AccessPart[] {
  if (values === undefined) return []
  if (values === 'all') return [{ field, match: 'all', value: '' }]
  const [first] = values
  if (values.length === 1 && first !== undefined) return [{ field, match: 'one', value: first }]
  return [{ field, match: 'many', value: JSON.stringify(values) }]
}

import { EVERY_ROW, type RowAccess, type Visibility } from '@perdure/ports'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Param } from './compile.ts'
import type { Dialect } from './dialect.ts'

type Condition = RawBuilder<SqlBool>

/** The parameters of the visibility conditions: one value, or a list of values. */
export type AccessValues = Readonly<Record<keyof RowAccess, string | readonly string[]>>

/** How one table tests each field of `RowAccess`. `matches` compares a column with the values of the field. */
export type AccessTests = {
  readonly [Field in keyof RowAccess]-?: (matches: (column: string) => Condition) => Condition
}

interface AccessPart {
  readonly field: keyof RowAccess
  readonly match: 'one' | 'many' | 'all'
  readonly value: string | readonly string[]
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

interface AccessQuery {
  readonly param: Param<AccessValues>
  readonly dialect: Dialect
}

/** The condition for the rows that a caller may see. */
export function isVisible(visibility: Visibility, tests: AccessTests, { param, dialect }: AccessQuery): Condition {
  if (visibility === EVERY_ROW) return sql`true`
  const parts = partsOf(visibility)
  const conditions = parts.map(({ field, match }) => tests[field](MATCHES[match](param(field), dialect)))
  const [only] = parts
  if (only === undefined) return sql`false`
  const any = sql<SqlBool>`(${sql.join(conditions, sql` or `)})`
  return parts.length === 1 && isSelective(only) ? any : dialect.unindexed(any)
}

/** Whether an index returns the rows that a caller may see. */
export function hasIndex(visibility: Visibility): boolean {
  const [only, ...others] = partsOf(visibility)
  return only !== undefined && others.length === 0 && isSelective(only)
}

/** Whether the planner may use an index: an index returns a single value in list order, and ids match few rows. */
const isSelective = ({ field, match }: AccessPart): boolean => match === 'one' || field === 'ids'

const MATCHES = {
  one: (value: RawBuilder<unknown>) => (column: string) => sql<SqlBool>`${sql.ref(column)} = ${value}`,
  many: (values: RawBuilder<unknown>, dialect: Dialect) => (column: string) => dialect.isOneOf(column, values),
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
  return [{ field, match: 'many', value: values }]
}

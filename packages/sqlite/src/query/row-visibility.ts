import { EVERY_ROW, type RowAccess, type Visibility } from '@perdure/ports'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Place } from './query.ts'

type Condition = RawBuilder<SqlBool>

/** What the visibility conditions read: one value, or a JSON array of them. */
export type AccessValues = Readonly<Record<keyof RowAccess, string>>

/** How each field of `RowAccess` is tested on one table. `matches` compares a column with the values of the field. */
export type AccessTests = {
  readonly [Field in keyof RowAccess]-?: (matches: (column: string) => Condition) => Condition
}

interface AccessPart {
  readonly field: keyof RowAccess
  readonly match: 'one' | 'many' | 'all'
  readonly value: string
}

/** Names the conditions a visibility adds to a query. */
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

/** The rows a caller may see. */
export function isVisible(visibility: Visibility, tests: AccessTests, place: Place<AccessValues>): Condition {
  if (visibility === EVERY_ROW) return sql`true`
  const parts = partsOf(visibility)
  const conditions = parts.map(({ field, match }) => tests[field](matcher[match](place(field))))
  const [only] = parts
  if (only === undefined) return sql`false`
  const any = sql<SqlBool>`(${sql.join(conditions, sql` or `)})`
  return parts.length === 1 && isSelective(only) ? any : unindexed(any)
}

/** One value may be found by an index and keep the order of the list; ids are few. */
const isSelective = ({ field, match }: AccessPart): boolean => match === 'one' || field === 'ids'

/** The `+` keeps the planner from gathering and sorting every visible row instead of walking the list in its order. */
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

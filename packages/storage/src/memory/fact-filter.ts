import type { FactFilter } from '@perdure/ports'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Param } from '../query/compile.ts'
import type { Dialect } from '../query/dialect.ts'
import {
  type AccessTests,
  type AccessValues,
  accessValues,
  isVisible,
  visibilityVariant,
} from '../query/row-visibility.ts'

/** The parameters of the filter conditions. */
export interface FilterValues extends AccessValues {
  readonly now: number
  readonly namespace: string
  readonly ofOwner: string
  readonly sourceSessionId: string
  readonly tags: readonly string[]
}

interface FilterQuery {
  readonly param: Param<FilterValues>
  readonly dialect: Dialect
}

export const MEMORY_ACCESS: AccessTests = {
  owner: (matches) => matches('owner'),
  ids: (matches) => matches('id'),
  agentIds: () => sql`false`,
  workflowIds: () => sql`false`,
}

const FILTERS = {
  namespace: ({ param }) => sql`namespace = ${param('namespace')}`,
  owner: ({ param }) => sql`owner = ${param('ofOwner')}`,
  sourceSessionId: ({ param }) => sql`source_session_id = ${param('sourceSessionId')}`,
  tags: ({ param, dialect }) => dialect.facts.hasTags(param('tags')),
} as const satisfies Record<string, (query: FilterQuery) => RawBuilder<SqlBool>>

const NAMES = Object.keys(FILTERS) as (keyof typeof FILTERS)[]
const namesIn = (filter: FactFilter) => NAMES.filter((name) => filter[name] !== undefined)

/** Cache key of the conditions that a filter adds to a query. */
export const filterVariant = (filter: FactFilter): string =>
  `${namesIn(filter).join(' ')} / ${visibilityVariant(filter.visibility)}`

export const filterValues = (filter: FactFilter): FilterValues => ({
  ...accessValues(filter.visibility),
  now: filter.now,
  namespace: filter.namespace ?? '',
  ofOwner: filter.owner ?? '',
  sourceSessionId: filter.sourceSessionId ?? '',
  tags: filter.tags ?? [],
})

/** Every condition of the filter. Only the first condition may choose an index. */
export function matchesFilter(filter: FactFilter, query: FilterQuery): RawBuilder<SqlBool> {
  const [first, ...rest] = namesIn(filter).map((name) => FILTERS[name](query))
  const visible = isVisible(filter.visibility, MEMORY_ACCESS, query)
  const others = [...rest, visible].map((condition) => query.dialect.unindexed(sql`(${condition})`))
  const conditions = first === undefined ? [visible] : [first, ...others]
  return sql.join([...conditions, isUnexpired(query.param)], sql` and `)
}

export const isUnexpired = (param: Param<{ readonly now: number }>): RawBuilder<SqlBool> =>
  sql`(expires_at is null or expires_at > ${param('now')})`

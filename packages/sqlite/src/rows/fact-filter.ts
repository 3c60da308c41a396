import type { EpochMs, FactFilter, FactRecord } from '@perdure/ports'
import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import type { FactTable } from './memory-schema.ts'
import type { Place } from './query.ts'
import {
  type AccessTests,
  type AccessValues,
  accessValues,
  isVisible,
  unindexed,
  visibilityVariant,
} from './row-visibility.ts'

export type FactRow = Selectable<FactTable>

/** What the conditions of a filter read. */
export interface FilterValues extends AccessValues {
  readonly now: number
  readonly namespace: string
  readonly ofOwner: string
  readonly sourceSessionId: string
  readonly tags: string // a JSON array
}

export const MEMORY_ACCESS: AccessTests = {
  owner: (matches) => matches('owner'),
  ids: (matches) => matches('id'),
  agentIds: () => sql`false`,
  workflowIds: () => sql`false`,
}

const FILTERS = {
  namespace: (place) => sql`namespace = ${place('namespace')}`,
  owner: (place) => sql`owner = ${place('ofOwner')}`,
  sourceSessionId: (place) => sql`source_session_id = ${place('sourceSessionId')}`,
  tags: (place) => sql`not exists (
    select 1 from json_each(${place('tags')}) as wanted
    where wanted.value not in (select value from json_each(facts.tags)))`,
} as const satisfies Record<string, (place: Place<FilterValues>) => RawBuilder<SqlBool>>

const NAMES = Object.keys(FILTERS) as (keyof typeof FILTERS)[]
const namesIn = (filter: FactFilter) => NAMES.filter((name) => filter[name] !== undefined)

/** Names the conditions a filter adds to a query. */
export const filterVariant = (filter: FactFilter): string =>
  `${namesIn(filter).join(' ')} / ${visibilityVariant(filter.visibility)}`

export const filterValues = (filter: FactFilter): FilterValues => ({
  ...accessValues(filter.visibility),
  now: filter.now,
  namespace: filter.namespace ?? '',
  ofOwner: filter.owner ?? '',
  sourceSessionId: filter.sourceSessionId ?? '',
  tags: JSON.stringify(filter.tags ?? []),
})

/** Every condition of the filter. At most one of them may choose an index: the first. */
export function matchesFilter(filter: FactFilter, place: Place<FilterValues>): RawBuilder<SqlBool> {
  const [first, ...rest] = namesIn(filter).map((name) => FILTERS[name](place))
  const visible = isVisible(filter.visibility, MEMORY_ACCESS, place)
  const conditions =
    first === undefined ? [visible] : [first, ...[...rest, visible].map((condition) => unindexed(sql`(${condition})`))]
  return sql.join([...conditions, isAlive(place)], sql` and `)
}

/** Not yet expired. */
export const isAlive = (place: Place<{ readonly now: number }>): RawBuilder<SqlBool> =>
  sql`(expires_at is null or expires_at > ${place('now')})`

export const toFact = (row: FactRow): FactRecord => ({
  id: row.id,
  namespace: row.namespace,
  owner: row.owner,
  text: row.text,
  tags: JSON.parse(row.tags),
  metadata: JSON.parse(row.metadata),
  importance: row.importance,
  weighedAt: row.weighed_at as EpochMs,
  fingerprint: row.fingerprint,
  sourceRunId: row.source_run_id ?? undefined,
  sourceSessionId: row.source_session_id ?? undefined,
  createdAt: row.created_at as EpochMs,
  updatedAt: row.updated_at as EpochMs,
  expiresAt: (row.expires_at ?? undefined) as EpochMs | undefined,
  revision: row.revision,
})

import type { SessionFilter, Visibility } from '@perdure/ports'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Param, Query } from '../query/compile.ts'
import type { Dialect } from '../query/dialect.ts'
import {
  countQuery,
  type Field,
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
const FILTER_COLUMNS = { userId: 'user_id', agentId: 'agent_id' } as const

type ColumnName = keyof typeof FILTER_COLUMNS
const COLUMN_NAMES = Object.keys(FILTER_COLUMNS) as ColumnName[]

export type SessionFilterValues = FieldValues & Readonly<Record<`${ColumnName}Filter`, string>>

/** An index that a list can walk; it belongs to one condition of the filter. */
export type SessionPath = ColumnName | FieldPath | 'visible'

export interface FilteredSessions {
  readonly filter: SessionFilter
  readonly visibility: Visibility
}

type Values = SessionFilterValues & AccessValues

/** The parameters of a query of sessions, and its dialect. */
interface SessionQuery {
  readonly param: Param<Values>
  readonly dialect: Dialect
}

const SESSION_FIELDS: FieldIndex = {
  ...{ table: 'session_fields', createdAt: 'session_at', records: 'sessions' },
}

export const SESSION_ACCESS: AccessTests = {
  owner: (matches) => matches('owner'),
  ids: (matches) => matches('id'),
  agentIds: (matches) => matches('agent_id'),
  workflowIds: () => sql`false`,
}

/** The rows of a session in the index of session fields. */
export const sessionFields = (metadata: Readonly<Record<string, string>> = {}): readonly Field[] =>
  Object.entries(metadata).map(([key, value]) => [`metadata.${key}`, value] as const)

/** Cache key of the conditions that a filter adds to a query. */
export function sessionFilterVariant(filter: SessionFilter): string {
  const flags = COLUMN_NAMES.map((name) => (filter[name] === undefined ? '-' : '+')).join('')
  return `${flags} ${sessionFields(filter.metadata).length}`
}

export const sessionFilterValues = (
  { userId = '', agentId = '', metadata }: SessionFilter,
  dialect: Dialect,
): SessionFilterValues => ({
  ...fieldValues(sessionFields(metadata), dialect),
  ...{ userIdFilter: userId, agentIdFilter: agentId },
})

/** The column with the creation time in the index that the list walks. */
export const sessionCreatedColumn = (path: SessionPath | undefined) =>
  isFieldPath(path) ? SESSION_FIELDS.createdAt : 'created_at'

/** The paths among which a list chooses, in order of preference; none if it can only walk all sessions. */
export const sessionPaths = ({ filter, visibility }: FilteredSessions): readonly SessionPath[] => [
  ...sessionFields(filter.metadata).map((_, n): SessionPath => `field${n}`),
  ...COLUMN_NAMES.filter((name) => filter[name] !== undefined),
  ...(hasIndex(visibility) ? (['visible'] as const) : []),
]

/** All conditions of a list. Only the condition of its path can use an index of the sessions. */
export function sessionConditions(
  { filter, visibility }: FilteredSessions,
  path: SessionPath | undefined,
  query: SessionQuery,
): Condition[] {
  const { param, dialect } = query
  const named = [
    ...COLUMN_NAMES.filter((name) => filter[name] !== undefined).map((name) => [name, isColumn(name, param)] as const),
    ['visible', isVisible(visibility, SESSION_ACCESS, query)] as const,
  ]
  return [
    ...fieldConditions(SESSION_FIELDS, { count: sessionFields(filter.metadata).length, path }, query),
    ...named.map(([name, condition]) => (name === path ? condition : dialect.unindexed(condition))),
  ]
}

export const sessionCounts = (request: FilteredSessions): Query<Values, Readonly<Record<string, number>>> =>
  countQuery((param: Param<Values>, dialect) =>
    sessionPaths(request).map((path) => rowsOfPath(request, path, { param, dialect })),
  )

function rowsOfPath({ filter, visibility }: FilteredSessions, path: SessionPath, query: SessionQuery): PathRows {
  if (path === 'visible') return { table: 'sessions', where: [isVisible(visibility, SESSION_ACCESS, query)] }
  if (!isFieldPath(path)) return { table: 'sessions', where: [isColumn(path, query.param)] }
  const fields = sessionFields(filter.metadata)
  const conditions = fieldConditions(SESSION_FIELDS, { count: fields.length, path }, query)
  return { table: 'session_fields', where: conditions.filter((_, n) => path === `field${n}`) }
}

const isColumn = (name: ColumnName, param: Param<SessionFilterValues>): Condition =>
  sql`(${sql.ref(FILTER_COLUMNS[name])} = ${param(`${name}Filter`)})`

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
} from '@berth/ports'
import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import type { Connection } from './connection.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, toPage } from './page.ts'
import { compile, from, type Query } from './query.ts'
import { type AccessTests, type AccessValues, accessValues, isVisible, visibilityVariant } from './row-visibility.ts'
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
  const { kind = 'agent', targetId = '', sessionId = '', since = 0 } = filter
  const values = { kind, targetId, sessionId, since, ...pageValues(page), ...accessValues(visibility) }
  return toPage(db.all(query, values), page, { toRecord, rankOf: (row) => row.created_at })
}

type RunRow = Selectable<RunTable>
type FindValues = AccessValues & { readonly id: string }
type ListValues = AccessValues & PageValues & Required<Pick<RunFilter, 'kind' | 'targetId' | 'sessionId' | 'since'>>

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

const listVariant = ({ filter, page, visibility }: RunListRequest): string => {
  const { statuses, kind, targetId, sessionId, since } = filter
  const given = [kind, targetId, sessionId, since].map((value) => (value === undefined ? '-' : '+')).join('')
  return `runs ${statuses?.join()} ${given} ${pageVariant(page)} ${visibilityVariant(visibility)}`
}

/** The list of one combination of filters. Statuses stand in it as literals, so that the partial indexes apply. */
export function listQuery({ filter, page, visibility }: RunListRequest): Query<ListValues, RunRow> {
  return compile((place) => {
    const { statuses, kind, targetId, sessionId, since } = filter
    const conditions: RawBuilder<SqlBool>[] = [isVisible(visibility, RUN_ACCESS, place)]
    if (statuses !== undefined) conditions.push(...hasStatus(statuses))
    if (kind !== undefined) conditions.push(sql`kind = ${place('kind')}`)
    if (targetId !== undefined) conditions.push(sql`target_id = ${place('targetId')}`)
    if (sessionId !== undefined) conditions.push(sql`session_id = ${place('sessionId')}`)
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
const ACTIVE: readonly RunStatus[] = ['queued', 'running', 'suspended']
const UNSUCCESSFUL: readonly RunStatus[] = ['failed', 'aborted']

/** The planner takes a partial index for one status of its set, and for several only beside the words of its `WHERE`. */
function hasStatus(statuses: readonly RunStatus[]): readonly RawBuilder<SqlBool>[] {
  if (statuses.length === 0) return [sql`false`]
  const indexed = [ACTIVE, UNSUCCESSFUL].filter((set) => statuses.every((status) => set.includes(status)))
  return [isOneOf(statuses), ...(statuses.length === 1 ? [] : indexed.map(isOneOf))]
}

const isOneOf = (statuses: readonly RunStatus[]): RawBuilder<SqlBool> =>
  sql`(${sql.join(
    statuses.map((status) => sql`status = ${sql.lit(status)}`),
    sql` or `,
  )})`

function toRecord(row: RunRow): RunRecord {
  return {
    id: row.id,
    kind: row.kind,
    targetId: row.target_id,
    threadId: row.thread_id ?? undefined,
    sessionId: row.session_id ?? undefined,
    owner: row.owner,
    userId: row.user_id ?? undefined,
    status: row.status,
    finishReason: row.finish_reason ?? undefined,
    input: row.input as JsonText,
    result: (row.result ?? undefined) as JsonText | undefined,
    error: row.error === null ? undefined : JSON.parse(row.error),
    usage: JSON.parse(row.usage),
    attempt: row.attempt,
    timeoutMs: row.timeout_ms ?? undefined,
    parentRunId: row.parent_run_id ?? undefined,
    triggerId: row.trigger_id ?? undefined,
    traceparent: row.traceparent ?? undefined,
    metadata: JSON.parse(row.metadata),
    createdAt: row.created_at as EpochMs,
    startedAt: (row.started_at ?? undefined) as EpochMs | undefined,
    suspendedAt: (row.suspended_at ?? undefined) as EpochMs | undefined,
    completedAt: (row.completed_at ?? undefined) as EpochMs | undefined,
  }
}

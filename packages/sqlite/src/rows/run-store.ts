import {
  type EpochMs,
  EVERY_ROW,
  type Page,
  RUN_CONTENT,
  type RunContent,
  type RunFilter,
  type RunPageQuery,
  type RunRecord,
  takeWithinPage,
  type Visibility,
} from '@perdure/ports'
import { ENDED_RUN_STATUSES } from '@perdure/protocol'
import { type AliasedRawBuilder, type Compilable, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Connection } from '../file/connection.ts'
import { compile, from, type Param, type Query } from '../query/compile.ts'
import { type LongTextColumns, longText, outlinedBytes, toText, type WithUnread } from '../query/long-text.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, rowBytes, toPage } from '../query/page.ts'
import {
  type AccessTests,
  type AccessValues,
  accessValues,
  isVisible,
  visibilityVariant,
} from '../query/row-visibility.ts'
import { statusList } from '../query/run-status.ts'
import {
  createdColumn,
  type FilterValues,
  filterConditions,
  filterValues,
  filterVariant,
  isFieldList,
} from './run-filter.ts'
import { RUN_COLUMNS, type RunRow, toRun } from './run-row.ts'

export interface RunListRequest {
  readonly filter: RunFilter
  readonly page: RunPageQuery
  readonly visibility: Visibility
}

export function findRun(db: Connection, request: { id: string; visibility: Visibility }): RunRecord | undefined {
  const { id, visibility } = request
  const query = db.variant(`run ${visibilityVariant(visibility)}`, () => findQuery(visibility))
  const row = db.get(query, { ...accessValues(visibility), id })
  return row === undefined ? undefined : toRun(row)
}

export const findAnyRun = (db: Connection, id: string): RunRecord | undefined =>
  findRun(db, { id, visibility: EVERY_ROW })

export function listRuns(db: Connection, request: RunListRequest): Page<RunRecord> {
  const { filter, page, visibility } = request
  const query = db.variant(listVariant(request), () => listQuery(request))
  const values = { ...filterValues(filter), ...pageValues(page), ...accessValues(visibility) }
  return toPage(db.each(query, values), page, { toRecord: toRun, rankOf: (row) => row.created_at })
}

/** Like `listRuns`, without the members of `content` that are long. */
export function outlineRuns(db: Connection, request: RunListRequest): Page<UnreadRun> {
  const { filter, page, visibility } = request
  const content = page.content ?? RUN_CONTENT
  const query = db.variant(`outline ${listVariant(request)}`, () => listQuery(request, 'outline'))
  const values = { ...filterValues(filter), ...pageValues(page), ...accessValues(visibility) }
  const rows = db.each(query, values) as Iterable<OutlinedRow>
  return toPage(rows, page, {
    toRecord: (row) => toUnreadRun(row, content),
    rankOf: (row) => row.created_at,
    bytesOf: outlinedBytes(content),
  })
}

type UnreadRun = WithUnread<RunRecord, RunContent>
type OutlinedRow = RunRow & LongTextColumns<RunContent>

function toUnreadRun(row: OutlinedRow, content: readonly RunContent[]): UnreadRun {
  const texts = content.map((member) => [member, toText(row, member, { of: 'run', member, id: row.id })] as const)
  return { ...toRun(row), ...Object.fromEntries(texts) }
}

export const runsPastDeadline = (db: Connection, until: { now: EpochMs; limit: number }): readonly RunRecord[] =>
  takeWithinPage(db.each(PAST_DEADLINE, until), until.limit, rowBytes).items.map(toRun)

export const nextDeadlineAt = (db: Connection): EpochMs | undefined =>
  db.get(NEXT_DEADLINE, {})?.deadline_at as EpochMs | undefined

type FindValues = AccessValues & { readonly id: string }
type ListValues = AccessValues & PageValues & FilterValues

const RUN_ACCESS: AccessTests = {
  owner: (matches) => matches('owner'),
  ids: (matches) => sql`key in (select key from run_keys where ${matches('run_id')})`,
  agentIds: (matches) => sql`kind = 'agent' and ${matches('target_id')}`,
  workflowIds: (matches) => sql`kind = 'workflow' and ${matches('target_id')}`,
}

const findQuery = (visibility: Visibility): Query<FindValues, RunRow> =>
  compile((param) =>
    from
      .selectFrom('runs')
      .selectAll()
      .where('key', '=', from.selectFrom('run_keys').select('key').where('run_id', '=', param('id')))
      .where(isVisible(visibility, RUN_ACCESS, param)),
  )

const listVariant = ({ filter, page, visibility }: RunListRequest): string => {
  const content = `with ${(page.content ?? RUN_CONTENT).join()}`
  return `runs ${content} ${filterVariant(filter)} ${pageVariant(page)} ${visibilityVariant(visibility)}`
}

/** Whether a list reads long texts or only their length. */
type Reading = 'texts' | 'outline'

/**
 * The query for one combination of filters. Statuses are literals, so that the partial indexes apply. A filter by run
 * fields walks their index, which has the order of the list.
 */
export const listQuery = (
  { filter, page, visibility }: RunListRequest,
  reading: Reading = 'texts',
): Query<ListValues, RunRow> =>
  compile((param) => {
    const conditions = filterConditions(filter, param, isVisible(visibility, RUN_ACCESS, param))
    if (page.cursor !== undefined) conditions.push(...isBeyondCursor(filter, page, param))
    const query = from
      .selectFrom('runs')
      .$if(isFieldList(filter), (runs) => runs.innerJoin('run_fields', 'run_fields.run_key', 'runs.key'))
      .select(columnsOf(page, reading))
      .where((eb) => eb.and(conditions))
      .orderBy(sql.ref(createdColumn(filter)), page.order)
      .orderBy('runs.id', page.order)
      .limit(param('limit'))
    return query as unknown as Compilable<RunRow>
  })

/** The second condition lets SQLite enter the index of run fields at the cursor. */
function isBeyondCursor(filter: RunFilter, page: RunPageQuery, param: Param<ListValues>): RawBuilder<SqlBool>[] {
  if (!isFieldList(filter)) return [isBeyond(param, page)]
  const reached = page.order === 'asc' ? sql`>=` : sql`<=`
  return [isBeyond(param, page), sql`${sql.ref(createdColumn(filter))} ${reached} ${param('afterRank')}`]
}

/** The columns of a list: the large ones only if they are wanted, because SQLite would read all their pages. */
const columnsOf = ({ content = RUN_CONTENT }: RunPageQuery, reading: Reading): AliasedRawBuilder<unknown, string>[] => [
  ...RUN_COLUMNS.filter((column) => !RUN_CONTENT.some((large) => large === column)).map(plain),
  ...content.flatMap((column) => (reading === 'texts' ? plain(column) : longText(column, 'runs'))),
]

const plain = (column: string): AliasedRawBuilder<unknown, string> => sql.ref(`runs.${column}`).as(column)

/** The exact `WHERE` text of the partial index on deadlines. */
const HAS_NOT_ENDED = sql<SqlBool>`status not in (${statusList(ENDED_RUN_STATUSES)})`

export const PAST_DEADLINE = compile<{ now: number; limit: number }, RunRow>((param) =>
  from
    .selectFrom('runs')
    .selectAll()
    .where(HAS_NOT_ENDED)
    .where('deadline_at', '<=', param('now'))
    .orderBy('deadline_at')
    .limit(param('limit')),
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

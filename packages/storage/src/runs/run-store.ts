import {
  EVERY_ROW,
  type Page,
  RUN_CONTENT,
  type RunContent,
  type RunFilter,
  type RunPageQuery,
  type RunRecord,
  type RunStore,
  takeWithinPage,
  type Visibility,
} from '@perdure/ports'
import { ENDED_RUN_STATUSES } from '@perdure/protocol'
import { type AliasedRawBuilder, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, type Param, type Query } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { countQuery, isFieldPath, shortestPath } from '../query/list-path.ts'
import { type LongTextColumns, longText, outlinedBytes, toText, type WithUnread } from '../query/long-text.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, rowBytes, toPage } from '../query/page.ts'
import { type AccessValues, accessValues, visibilityVariant } from '../query/row-visibility.ts'
import { statusList } from '../query/run-status.ts'
import type { Reads } from '../reads.ts'
import {
  createdColumn,
  type FilteredRuns,
  type FilterValues,
  filterValues,
  filterVariant,
  isVisibleRun,
  listConditions,
  type RunPath,
  rowsOfPath,
  runPaths,
} from './run-filter.ts'
import { NEEDING_FOLLOW_UP } from './run-follow-ups.ts'
import { RUN_OWNERS } from './run-owners.ts'
import { RUN_COLUMNS, type RunRow, toRun } from './run-row.ts'
import { subjectUsage } from './subject-usage.ts'

export interface RunListRequest {
  readonly filter: RunFilter
  readonly page: RunPageQuery
  readonly visibility: Visibility
}

export const runReads: Reads<Omit<RunStore, 'outline'>> = {
  *find(db, id, visibility) {
    const query = db.variant(`run ${visibilityVariant(visibility)}`, () => findQuery(visibility))
    const row = yield* db.get(query, { ...accessValues(visibility), id })
    return row && toRun(row)
  },
  *list(db, filter, page, visibility) {
    const request = { filter, page, visibility }
    const { values, path } = yield* walkOf(db, request)
    const query = db.variant(listVariant(request, path), () => listQuery(request, { path }))
    return toPage(yield* db.each(query, values), page, { toRecord: toRun, rankOf: (row) => row.created_at })
  },
  *owners(db, limit) {
    return (yield* db.all(RUN_OWNERS, { limit })).flatMap(({ owner }) => (owner === null ? [] : [owner]))
  },
  usage: subjectUsage,
  *needingFollowUp(db, limit) {
    return takeWithinPage(yield* db.each(NEEDING_FOLLOW_UP, { limit }), limit, rowBytes).items.map(toRun)
  },
}

export const findAnyRun = (db: Db, id: string): Program<RunRecord | undefined> => runReads.find(db, id, EVERY_ROW)

/** The queued, running or suspended run of a thread. */
export function* activeRunOfThread(db: Db, thread: ThreadKey): Program<RunRecord | undefined> {
  const row = yield* db.get(ACTIVE_RUN_OF_THREAD, thread)
  return row && toRun(row)
}

interface ThreadKey {
  readonly workflowId: string
  readonly threadId: string
}

/** The condition on the status is the text of the unique index on threads. */
export const ACTIVE_RUN_OF_THREAD = compile<ThreadKey, RunRow>((param) =>
  from
    .selectFrom('runs')
    .selectAll()
    .where('thread_id', '=', param('threadId'))
    .where('target_id', '=', param('workflowId'))
    .where(sql<SqlBool>`kind = 'workflow' and status not in (${statusList(ENDED_RUN_STATUSES)})`),
)

/** Like `list`, without the members of `content` that are long. */
export function* outlineRuns(db: Db, ...[filter, page, visibility]: ListArgs): Program<Page<UnreadRun>> {
  const request = { filter, page, visibility }
  const content = page.content ?? RUN_CONTENT
  const { values, path } = yield* walkOf(db, request)
  const name = `outline ${listVariant(request, path)}`
  const query = db.variant(name, () => listQuery(request, { path, reading: 'outline' }))
  const rows = (yield* db.each(query, values)) as Iterable<OutlinedRow>
  return toPage(rows, page, {
    toRecord: (row) => toUnreadRun(row, content),
    rankOf: (row) => row.created_at,
    bytesOf: outlinedBytes(content),
  })
}

type ListArgs = readonly [filter: RunFilter, page: RunPageQuery, visibility: Visibility]
type UnreadRun = WithUnread<RunRecord, RunContent>
type OutlinedRow = RunRow & LongTextColumns<RunContent>

function toUnreadRun(row: OutlinedRow, content: readonly RunContent[]): UnreadRun {
  const texts = content.map((member) => [member, toText(row, member, { of: 'run', member, id: row.id })] as const)
  return { ...toRun(row), ...Object.fromEntries(texts) }
}

type FindValues = AccessValues & { readonly id: string }
type ListValues = AccessValues & PageValues & FilterValues

const findQuery = (visibility: Visibility): Query<FindValues, RunRow> =>
  compile((param, dialect) =>
    from
      .selectFrom('runs')
      .selectAll()
      .where(dialect.run.self, '=', dialect.run.of(param('id')))
      .where(isVisibleRun(visibility, { param, dialect })),
  )

/** Counts the rows of the indexes that the list could walk, because the values of a filter decide which is shortest. */
function* walkOf(db: Db, request: RunListRequest): Program<{ values: ListValues; path: RunPath | undefined }> {
  const { filter, page, visibility } = request
  const values = { ...filterValues(filter, db.dialect), ...pageValues(page), ...accessValues(visibility) }
  const variant = `runs ${filterVariant(filter)} ${visibilityVariant(visibility)}`
  const choice = { paths: runPaths(request), variant, values, countQuery: () => runCounts(request) }
  return { values, path: yield* shortestPath(db, choice) }
}

export const runCounts = (request: FilteredRuns): Query<ListValues, Readonly<Record<string, number>>> =>
  countQuery((param: Param<ListValues>, dialect) =>
    runPaths(request).map((path) => rowsOfPath(request, path, { param, dialect })),
  )

const listVariant = ({ filter, page, visibility }: RunListRequest, path: RunPath | undefined): string => {
  const content = `with ${(page.content ?? RUN_CONTENT).join()}`
  const conditions = `${filterVariant(filter)} ${pageVariant(page)} ${visibilityVariant(visibility)}`
  return `runs by ${path} ${content} ${conditions}`
}

/** Whether a list reads long texts or only their length. */
type Reading = 'texts' | 'outline'

interface ListPlan {
  readonly path?: RunPath | undefined
  readonly reading?: Reading | undefined
}

/**
 * The query for one combination of filters. It walks the index of the path, which has the order of the list. Statuses
 * are literals, so that the partial indexes apply.
 */
export const listQuery = (
  request: RunListRequest,
  { path = runPaths(request)[0], reading = 'texts' }: ListPlan = {},
): Query<ListValues, RunRow> =>
  compile((param, dialect) => {
    const { page } = request
    const { run } = dialect
    const conditions = listConditions(request, path, { param, dialect })
    if (page.cursor !== undefined) conditions.push(...isBeyondCursor(path, page, param))
    const query = from
      .selectFrom('runs')
      .$if(isFieldPath(path), (runs) => runs.innerJoin('run_fields', `run_fields.${run.column}`, `runs.${run.self}`))
      .select(columnsOf(page, reading))
      .where((eb) => eb.and(conditions))
      .orderBy(sql.ref(createdColumn(path)), page.order)
      .orderBy('runs.id', page.order)
      .limit(param('limit'))
    const texts = reading === 'texts' ? (page.content ?? RUN_CONTENT) : []
    return texts.length === 0 ? query.$castTo<RunRow>() : dialect.bounded(query.$castTo<RunRow>(), texts)
  })

/** The second condition lets SQLite enter the index of run fields at the cursor. */
function isBeyondCursor(
  path: RunPath | undefined,
  page: RunPageQuery,
  param: Param<ListValues>,
): RawBuilder<SqlBool>[] {
  if (!isFieldPath(path)) return [isBeyond(param, page)]
  const reached = page.order === 'asc' ? sql`>=` : sql`<=`
  return [isBeyond(param, page), sql`${sql.ref(createdColumn(path))} ${reached} ${param('afterRank')}`]
}

/** The columns of a list: the large ones only if they are wanted, because SQLite would read all their pages. */
const columnsOf = ({ content = RUN_CONTENT }: RunPageQuery, reading: Reading): AliasedRawBuilder<unknown, string>[] => [
  ...RUN_COLUMNS.filter((column) => !RUN_CONTENT.some((large) => large === column)).map(plain),
  ...content.flatMap((column) => (reading === 'texts' ? plain(column) : longText(column, 'runs'))),
]

const plain = (column: string): AliasedRawBuilder<unknown, string> => sql.ref(`runs.${column}`).as(column)

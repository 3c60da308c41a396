import {
  EVERY_ROW,
  type IdleQuery,
  type MessageRecord,
  type Page,
  type PageQuery,
  type SessionFilter,
  type SessionRecord,
  type Visibility,
} from '@perdure/ports'
import { type SqlBool, sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, type Param, type Query } from '../query/compile.ts'
import type { Db, Dialect } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { isFieldPath, shortestPath } from '../query/list-path.ts'
import { type LongTextColumns, longText, outlinedBytes, toText, type WithUnread } from '../query/long-text.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, toPage } from '../query/page.ts'
import { type AccessValues, accessValues, visibilityVariant } from '../query/row-visibility.ts'
import { MESSAGE_COLUMNS, type MessageRow, toMessage } from './message-row.ts'
import {
  isVisibleSession,
  type SessionFilterValues,
  type SessionPath,
  sessionConditions,
  sessionCounts,
  sessionCreatedColumn,
  sessionFilterValues,
  sessionFilterVariant,
  sessionPaths,
} from './session-filter.ts'
import { SESSION_COLUMNS, type SessionRow, toSession } from './session-row.ts'

export function* findSession(db: Db, request: { id: string; visibility: Visibility }) {
  const { id, visibility } = request
  const query = db.variant(`session ${visibilityVariant(visibility)}`, () => findQuery(visibility))
  const row = yield* db.get(query, { ...accessValues(visibility), id })
  return row === undefined ? undefined : toSession(row)
}

export function* findAnySession(db: Db, id: string): Program<SessionRecord | undefined> {
  return yield* findSession(db, { id, visibility: EVERY_ROW })
}

export function* listSessions(db: Db, request: SessionListRequest): Program<Page<SessionRecord>> {
  const { filter, page, visibility } = request
  const values = { ...sessionFilterValues(filter, db.dialect), ...pageValues(page), ...accessValues(visibility) }
  const variant = `sessions ${sessionFilterVariant(filter)} ${visibilityVariant(visibility)}`
  const paths = sessionPaths(request)
  const path = yield* shortestPath(db, { paths, variant, values, countQuery: () => sessionCounts(request) })
  const query = db.variant(`${variant} by ${path} ${pageVariant(page)}`, () => sessionListQuery(request, path))
  const rows = yield* db.each(query, values)
  return toPage(rows, page, { toRecord: toSession, rankOf: (row) => row.created_at })
}

export function* listMessages(db: Db, request: { sessionId: string; page: PageQuery }): Program<Page<MessageRecord>> {
  const { sessionId, page } = request
  const query = db.variant(`messages ${pageVariant(page)}`, () => messagesQuery(page))
  const rows = yield* db.each(query, { sessionId, ...pageValues(page) })
  return toPage(rows, page, { toRecord: (row) => toMessage(row, sessionId), rankOf: (row) => row.seq })
}

export function* outlineMessages(
  db: Db,
  request: { sessionId: string; page: PageQuery },
): Program<Page<UnreadMessage>> {
  const { sessionId, page } = request
  const query = db.variant(`message outline ${pageVariant(page)}`, () => messageOutlineQuery(page))
  const rows = yield* db.each(query, { sessionId, ...pageValues(page) })
  return toPage(rows, page, {
    toRecord: (row) => toUnreadMessage(row, sessionId),
    rankOf: (row) => row.seq,
    bytesOf: outlinedBytes(['content']),
  })
}

type UnreadMessage = WithUnread<MessageRecord, 'content'>
type OutlinedRow = Omit<MessageRow, 'content' | 'session_id'> & LongTextColumns<'content'>

function toUnreadMessage(row: OutlinedRow, sessionId: string): UnreadMessage {
  const { seq, id } = row
  const content = toText(row, 'content', { of: 'message', sessionId, seq, id }) as UnreadMessage['content']
  return { ...toMessage({ ...row, content: '' }, sessionId), content }
}

export function* sessionsIdleSince(db: Db, { until, limit, after }: IdleQuery): Program<readonly SessionRecord[]> {
  const cursor = { afterTime: after?.updatedAt ?? Number.MIN_SAFE_INTEGER, afterId: after?.id ?? '' }
  return (yield* db.all(SESSIONS_IDLE_SINCE, { until, limit, ...cursor })).map(toSession)
}

const findQuery = (visibility: Visibility): Query<AccessValues & { readonly id: string }, SessionRow> =>
  compile((param, dialect) =>
    from
      .selectFrom('sessions')
      .selectAll()
      .where('id', '=', param('id'))
      .where(isVisibleSession(visibility, { param, dialect })),
  )

interface SessionListRequest {
  readonly filter: SessionFilter
  readonly page: PageQuery
  readonly visibility: Visibility
}

type ListValues = AccessValues & PageValues & SessionFilterValues

/** The query for one combination of filters. It walks the index of the path, which has the order of the list. */
export const sessionListQuery = (
  request: SessionListRequest,
  path: SessionPath | undefined = sessionPaths(request)[0],
): Query<ListValues, SessionRow> =>
  compile((param, dialect) => {
    const { page } = request
    const { session } = dialect
    const conditions = sessionConditions(request, path, { param, dialect })
    const createdAt = sql.ref(sessionCreatedColumn(path))
    if (page.cursor !== undefined) {
      const reached = page.order === 'asc' ? sql`>=` : sql`<=`
      conditions.push(isBeyond(param, page), sql`${createdAt} ${reached} ${param('afterRank')}`)
    }
    const query = from
      .selectFrom('sessions')
      .$if(isFieldPath(path), (list) =>
        list.innerJoin('session_fields', `session_fields.${session.column}`, `sessions.${session.self}`),
      )
      .select(SESSION_COLUMNS.map((column) => `sessions.${column}` as const))
      .where((eb) => eb.and(conditions))
      .orderBy(createdAt, page.order)
      .orderBy('sessions.id', page.order)
      .limit(param('limit'))
    return query.$castTo<SessionRow>()
  })

type TranscriptValues = PageValues & { readonly sessionId: string }

const messagesQuery = (page: PageQuery): Query<TranscriptValues, Omit<MessageRow, 'session_id'>> =>
  compile((param, dialect) =>
    dialect.bounded(transcript({ param, dialect }, page).selectAll().$castTo<MessageRow>(), ['content']),
  )

const messageOutlineQuery = (page: PageQuery): Query<TranscriptValues, OutlinedRow> =>
  compile((param, dialect) => {
    const columns = MESSAGE_COLUMNS.filter((name) => name !== 'content')
    const query = transcript({ param, dialect }, page).select([...columns, ...longText('content', 'messages')])
    return query.$castTo<OutlinedRow>()
  })

interface TranscriptQuery {
  readonly param: Param<TranscriptValues>
  readonly dialect: Dialect
}

const transcript = ({ param, dialect: { session } }: TranscriptQuery, page: PageQuery) =>
  from
    .selectFrom('messages')
    .where(session.column, '=', session.of(param('sessionId')))
    .$if(page.cursor !== undefined, (query) => query.where('seq', page.order === 'asc' ? '>' : '<', param('afterRank')))
    .orderBy('seq', page.order)
    .limit(param('limit'))

interface IdleValues {
  readonly until: number
  readonly limit: number
  readonly afterTime: number
  readonly afterId: string
}

export const SESSIONS_IDLE_SINCE = compile<IdleValues, SessionRow>((param) =>
  from
    .selectFrom('sessions')
    .selectAll()
    .where('updated_at', '<=', param('until'))
    .where(sql<SqlBool>`(updated_at, id) > (${param('afterTime')}, ${param('afterId')})`)
    .where(sql<SqlBool>`not exists (
      select 1 from runs
      where runs.session_id = sessions.id
        and (status = 'queued' or status = 'running' or status = 'suspended')
        and (status = 'queued' or status = 'running'))`)
    .orderBy('updated_at')
    .orderBy('id')
    .limit(param('limit')),
)

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
import {
  isBeyond,
  type LongTextColumns,
  longText,
  MESSAGE_COLUMNS,
  type MessageRow,
  outlinedBytes,
  type PageValues,
  type Param,
  pageValues,
  pageVariant,
  type Query,
  SESSION_COLUMNS,
  type SessionRow,
  toMessage,
  toPage,
  toSession,
  toText,
  type WithUnread,
} from '@perdure/sql'
import { type Compilable, type Expression, type SqlBool, sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { bounded } from '../query/bounded.ts'
import { compile, from } from '../query/compile.ts'
import { isFieldPath, shortestPath } from '../query/list-path.ts'
import { type AccessValues, accessValues, visibilityVariant } from '../query/row-visibility.ts'
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

export async function findSession(db: Connection, request: { id: string; visibility: Visibility }) {
  const { id, visibility } = request
  const query = db.variant(`session ${visibilityVariant(visibility)}`, () => findQuery(visibility))
  const row = await db.get(query, { ...accessValues(visibility), id })
  return row === undefined ? undefined : toSession(row)
}

export const findAnySession = async (db: Connection, id: string): Promise<SessionRecord | undefined> =>
  await findSession(db, { id, visibility: EVERY_ROW })

export async function listSessions(db: Connection, request: SessionListRequest): Promise<Page<SessionRecord>> {
  const { filter, page, visibility } = request
  const values = { ...sessionFilterValues(filter), ...pageValues(page), ...accessValues(visibility) }
  const variant = `sessions ${sessionFilterVariant(filter)} ${visibilityVariant(visibility)}`
  const paths = sessionPaths(request)
  const path = await shortestPath(db, { paths, variant, values, countQuery: () => sessionCounts(request) })
  const query = db.variant(`${variant} by ${path} ${pageVariant(page)}`, () => sessionListQuery(request, path))
  const rows = await db.all(query, values)
  return toPage(rows, page, { toRecord: toSession, rankOf: (row) => row.created_at })
}

export async function listMessages(
  db: Connection,
  request: { sessionId: string; page: PageQuery },
): Promise<Page<MessageRecord>> {
  const { sessionId, page } = request
  const query = db.variant(`messages ${pageVariant(page)}`, () => messagesQuery(page))
  const rows = await db.all(query, { sessionId, ...pageValues(page) })
  return toPage(rows, page, { toRecord: (row) => toMessage(row, sessionId), rankOf: (row) => row.seq })
}

export async function outlineMessages(
  db: Connection,
  request: { sessionId: string; page: PageQuery },
): Promise<Page<UnreadMessage>> {
  const { sessionId, page } = request
  const query = db.variant(`message outline ${pageVariant(page)}`, () => messageOutlineQuery(page))
  const rows = await db.all(query, { sessionId, ...pageValues(page) })
  return toPage(rows, page, {
    toRecord: (row) => toUnreadMessage(row, sessionId),
    rankOf: (row) => row.seq,
    bytesOf: outlinedBytes(['content']),
  })
}

type UnreadMessage = WithUnread<MessageRecord, 'content'>
type OutlinedRow = Omit<MessageRow, 'content'> & LongTextColumns<'content'>

function toUnreadMessage(row: OutlinedRow, sessionId: string): UnreadMessage {
  const { seq, id } = row
  const content = toText(row, 'content', { of: 'message', sessionId, seq, id }) as UnreadMessage['content']
  return { ...toMessage({ ...row, content: '' }, sessionId), content }
}

export async function sessionsIdleSince(
  db: Connection,
  { until, limit, after }: IdleQuery,
): Promise<readonly SessionRecord[]> {
  const cursor = { afterTime: after?.updatedAt ?? Number.MIN_SAFE_INTEGER, afterId: after?.id ?? '' }
  return (await db.all(SESSIONS_IDLE_SINCE, { until, limit, ...cursor })).map(toSession)
}

const findQuery = (visibility: Visibility): Query<AccessValues & { readonly id: string }, SessionRow> =>
  compile((param) =>
    from.selectFrom('sessions').selectAll().where('id', '=', param('id')).where(isVisibleSession(visibility, param)),
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
  compile((param) => {
    const { page } = request
    const conditions = sessionConditions(request, path, param)
    const createdAt = sql.ref(sessionCreatedColumn(path))
    if (page.cursor !== undefined) {
      const reached = page.order === 'asc' ? sql`>=` : sql`<=`
      conditions.push(isBeyond(param, page), sql`${createdAt} ${reached} ${param('afterRank')}`)
    }
    const query = from
      .selectFrom('sessions')
      .$if(isFieldPath(path), (list) => list.innerJoin('session_fields', 'session_fields.session_id', 'sessions.id'))
      .select(SESSION_COLUMNS.map((column) => `sessions.${column}` as const))
      .where((eb) => eb.and(conditions))
      .orderBy(createdAt, page.order)
      .orderBy('sessions.id', page.order)
      .limit(param('limit'))
    return query as unknown as Compilable<SessionRow>
  })

type TranscriptValues = PageValues & { readonly sessionId: string }

const messagesQuery = (page: PageQuery): Query<TranscriptValues, MessageRow> =>
  compile((param) => bounded(transcript(param, page).selectAll() as Expression<MessageRow>, ['content']))

const messageOutlineQuery = (page: PageQuery): Query<TranscriptValues, OutlinedRow> =>
  compile((param) => {
    const columns = MESSAGE_COLUMNS.filter((name) => name !== 'content')
    const query = transcript(param, page).select([...columns, ...longText('content', 'messages')])
    return query as unknown as Compilable<OutlinedRow>
  })

const transcript = (param: Param<TranscriptValues>, page: PageQuery) =>
  from
    .selectFrom('messages')
    .where('session_id', '=', param('sessionId'))
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

import {
  EVERY_ROW,
  type MessageRecord,
  type Page,
  type PageQuery,
  type SessionFilter,
  type SessionRecord,
  type SessionStore,
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
import { visibleRow } from '../query/table-queries.ts'
import type { Reads } from '../reads.ts'
import { MESSAGES, type MessageRow, toMessage } from './message-row.ts'
import {
  SESSION_ACCESS,
  type SessionFilterValues,
  type SessionPath,
  sessionConditions,
  sessionCounts,
  sessionCreatedColumn,
  sessionFilterValues,
  sessionFilterVariant,
  sessionPaths,
} from './session-filter.ts'
import { SESSION_COLUMNS, SESSIONS, type SessionRow } from './session-row.ts'

export const sessionReads: Reads<Omit<SessionStore, 'outlineMessages'>> = {
  *find(db, id, visibility) {
    const row = yield* findVisible(db, id, visibility)
    return row && SESSIONS.toRecord(row)
  },
  *list(db, filter, page, visibility) {
    const request = { filter, page, visibility }
    const values = { ...sessionFilterValues(filter, db.dialect), ...pageValues(page), ...accessValues(visibility) }
    const variant = `sessions ${sessionFilterVariant(filter)} ${visibilityVariant(visibility)}`
    const paths = sessionPaths(request)
    const path = yield* shortestPath(db, { paths, variant, values, countQuery: () => sessionCounts(request) })
    const query = db.variant(`${variant} by ${path} ${pageVariant(page)}`, () => sessionListQuery(request, path))
    const rows = yield* db.each(query, values)
    return toPage(rows, page, { toRecord: SESSIONS.toRecord, rankOf: (row) => row.created_at })
  },
  *messages(db, sessionId, page) {
    const query = db.variant(`messages ${pageVariant(page)}`, () => messagesQuery(page))
    const rows = yield* db.each(query, { sessionId, ...pageValues(page) })
    return toPage(rows, page, { toRecord: (row) => toMessage(row, sessionId), rankOf: (row) => row.seq })
  },
  *idleSince(db, { until, limit, after }) {
    const cursor = { afterTime: after?.updatedAt ?? Number.MIN_SAFE_INTEGER, afterId: after?.id ?? '' }
    return (yield* db.all(SESSIONS_IDLE_SINCE, { until, limit, ...cursor })).map(SESSIONS.toRecord)
  },
}

export const findAnySession = (db: Db, id: string): Program<SessionRecord | undefined> =>
  sessionReads.find(db, id, EVERY_ROW)

/** Like `messages`, without contents that are long. */
export function* outlineMessages(db: Db, sessionId: string, page: PageQuery): Program<Page<UnreadMessage>> {
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

const findVisible = visibleRow<SessionRow>('sessions', SESSION_ACCESS)

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
    const columns = MESSAGES.columns.filter((name) => name !== 'content')
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

import {
  type EpochMs,
  EVERY_ROW,
  type IdleQuery,
  type JsonText,
  type MessageRecord,
  type Page,
  type PageQuery,
  type SessionRecord,
  type Visibility,
} from '@perdure/ports'
import { type Selectable, type SqlBool, sql } from 'kysely'
import type { Connection } from './connection.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, toPage } from './page.ts'
import { compile, from, type Query } from './query.ts'
import { type AccessTests, type AccessValues, accessValues, isVisible, visibilityVariant } from './row-visibility.ts'
import type { MessageTable, SessionTable } from './schema.ts'

export function findSession(db: Connection, request: { id: string; visibility: Visibility }) {
  const { id, visibility } = request
  const query = db.variant(`session ${visibilityVariant(visibility)}`, () => findQuery(visibility))
  const row = db.get(query, { ...accessValues(visibility), id })
  return row === undefined ? undefined : toRecord(row)
}

export const findAnySession = (db: Connection, id: string): SessionRecord | undefined =>
  findSession(db, { id, visibility: EVERY_ROW })

export function listSessions(
  db: Connection,
  request: { page: PageQuery; visibility: Visibility },
): Page<SessionRecord> {
  const { page, visibility } = request
  const name = `sessions ${pageVariant(page)} ${visibilityVariant(visibility)}`
  const query = db.variant(name, () => sessionListQuery(request))
  const rows = db.all(query, { ...pageValues(page), ...accessValues(visibility) })
  return toPage(rows, page, { toRecord, rankOf: (row) => row.created_at })
}

export function listMessages(db: Connection, request: { sessionId: string; page: PageQuery }): Page<MessageRecord> {
  const { sessionId, page } = request
  const query = db.variant(`messages ${pageVariant(page)}`, () => messagesQuery(page))
  const rows = db.all(query, { sessionId, ...pageValues(page) })
  const toMessage = (row: Selectable<MessageTable>) => toMessageRecord(row, sessionId)
  return toPage(rows, page, { toRecord: toMessage, rankOf: (row) => row.seq })
}

export function sessionsIdleSince(db: Connection, { until, limit, after }: IdleQuery): readonly SessionRecord[] {
  const place = { afterTime: after?.updatedAt ?? Number.MIN_SAFE_INTEGER, afterId: after?.id ?? '' }
  return db.all(SESSIONS_IDLE_SINCE, { until, limit, ...place }).map(toRecord)
}

type SessionRow = Selectable<SessionTable>
type MessageRow = Selectable<MessageTable>

const SESSION_ACCESS: AccessTests = {
  owner: (matches) => matches('owner'),
  ids: (matches) => matches('id'),
  agentIds: (matches) => matches('agent_id'),
  workflowIds: () => sql`false`,
}

const findQuery = (visibility: Visibility): Query<AccessValues & { readonly id: string }, SessionRow> =>
  compile((place) =>
    from
      .selectFrom('sessions')
      .selectAll()
      .where('id', '=', place('id'))
      .where(isVisible(visibility, SESSION_ACCESS, place)),
  )

type SessionListRequest = { readonly page: PageQuery; readonly visibility: Visibility }

export const sessionListQuery = ({
  page,
  visibility,
}: SessionListRequest): Query<AccessValues & PageValues, SessionRow> =>
  compile((place) =>
    from
      .selectFrom('sessions')
      .selectAll()
      .where(isVisible(visibility, SESSION_ACCESS, place))
      .$if(page.cursor !== undefined, (query) => query.where(isBeyond(place, page)))
      .orderBy('created_at', page.order)
      .orderBy('id', page.order)
      .limit(place('limit')),
  )

const messagesQuery = (page: PageQuery): Query<PageValues & { readonly sessionId: string }, MessageRow> =>
  compile((place) =>
    from
      .selectFrom('messages')
      .selectAll()
      .where('session_key', '=', from.selectFrom('sessions').select('key').where('id', '=', place('sessionId')))
      .$if(page.cursor !== undefined, (query) =>
        query.where('seq', page.order === 'asc' ? '>' : '<', place('afterRank')),
      )
      .orderBy('seq', page.order)
      .limit(place('limit')),
  )

interface IdleValues {
  readonly until: number
  readonly limit: number
  readonly afterTime: number
  readonly afterId: string
}

export const SESSIONS_IDLE_SINCE = compile<IdleValues, SessionRow>((place) =>
  from
    .selectFrom('sessions')
    .selectAll()
    .where('updated_at', '<=', place('until'))
    .where(sql<SqlBool>`(updated_at, id) > (${place('afterTime')}, ${place('afterId')})`)
    .where(sql<SqlBool>`not exists (
      select 1 from runs
      where runs.session_id = sessions.id
        and (status = 'queued' or status = 'running' or status = 'suspended')
        and (status = 'queued' or status = 'running'))`)
    .orderBy('updated_at')
    .orderBy('id')
    .limit(place('limit')),
)

const toRecord = (row: SessionRow): SessionRecord => ({
  id: row.id,
  owner: row.owner,
  title: row.title ?? undefined,
  userId: row.user_id ?? undefined,
  agentId: row.agent_id ?? undefined,
  metadata: JSON.parse(row.metadata),
  createdAt: row.created_at as EpochMs,
  updatedAt: row.updated_at as EpochMs,
})

const toMessageRecord = (row: MessageRow, sessionId: string): MessageRecord => ({
  id: row.id,
  sessionId,
  seq: row.seq,
  role: row.role,
  content: row.content as JsonText,
  runId: row.run_id ?? undefined,
  createdAt: row.created_at as EpochMs,
})

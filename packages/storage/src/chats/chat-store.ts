import { type ChatRecord, type ChatStore, EVERY_ROW, type PageQuery, type Visibility } from '@perdure/ports'
import { type RawBuilder, sql } from 'kysely'
import type { Program } from '../program.ts'
import { type Built, compile, type Query } from '../query/compile.ts'
import type { Db, Dialect } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { type PageValues, pageValues, pageVariant, toPage } from '../query/page.ts'
import {
  type AccessTests,
  type AccessValues,
  accessValues,
  hasIndex,
  isVisible,
  visibilityVariant,
} from '../query/row-visibility.ts'
import type { Reads } from '../reads.ts'
import { CHAT_COLUMNS, type ChatRow, type ListedChatRow, toChat, toListedChat } from './chat-row.ts'

const CHAT_ACCESS: AccessTests = {
  owner: (matches) => matches('owner'),
  ids: (matches) => matches('session_id'),
  agentIds: (matches) => matches('agent_id'),
  workflowIds: () => sql`false`,
}

export const chatReads: Reads<ChatStore> = {
  *find(db, id, visibility) {
    const query = db.variant(`chat ${visibilityVariant(visibility)}`, () => findChatQuery(visibility))
    const row = yield* db.get(query, { ...accessValues(visibility), id })
    return row && toListedChat(row)
  },
  *list(db, { agentId }, page, visibility) {
    const name = `chats ${pageVariant(page)} ${visibilityVariant(visibility)}`
    const query = db.variant(name, () => chatListQuery({ page, visibility }))
    const rows = yield* db.each(query, { ...pageValues(page), ...accessValues(visibility), agentId })
    return toPage(rows, page, { toRecord: toListedChat, rankOf: (row) => row.updated_at })
  },
}

export function* findAnyChat(db: Db, id: string): Program<ChatRecord | undefined> {
  const row = yield* db.get(SELECT_CHAT, { id })
  return row && toChat(row)
}

const SELECT_CHAT = compile<{ id: string }, ChatRow>((param) =>
  from.selectFrom('chats').select(CHAT_COLUMNS).where('session_id', '=', param('id')),
)

export const findChatQuery = (visibility: Visibility): Query<AccessValues & { readonly id: string }, ListedChatRow> =>
  compile((param, dialect) =>
    listed(
      sql`session_id = ${param('id')} and ${dialect.unindexed(isVisible(visibility, CHAT_ACCESS, { param, dialect }))}`,
      dialect,
    ),
  )

type ListValues = AccessValues & PageValues & { readonly agentId: string }

/** The exact text of the index on the chats of an agent, whoever owns them. */
const BY_AGENT = sql`coalesce(agent_id, '')`

/** A page walks an index in the order of the list; each row costs two more searches. */
export const chatListQuery = ({
  page,
  visibility,
}: {
  readonly page: PageQuery
  readonly visibility: Visibility
}): Query<ListValues, ListedChatRow & { readonly id: string }> =>
  compile((param, dialect) => {
    const visible = isVisible(visibility, CHAT_ACCESS, { param, dialect })
    // Each condition fits one index only.
    const isOfOwner = visibility !== EVERY_ROW && visibility.owner !== undefined && hasIndex(visibility)
    const ofAgent = sql`${isOfOwner ? sql`agent_id` : BY_AGENT} = ${param('agentId')}`
    const isAscending = page.order === 'asc'
    const beyond = sql`(updated_at, session_id) ${isAscending ? sql`>` : sql`<`} (${param('afterRank')}, ${param('afterId')})`
    const order = isAscending ? sql`asc` : sql`desc`
    return listed(
      sql`${sql.join([ofAgent, visible, ...(page.cursor === undefined ? [] : [beyond])], sql` and `)}
      order by updated_at ${order}, session_id ${order} limit ${param('limit')}`,
      dialect,
    )
  })

/**
 * The condition on the status is the exact `WHERE` text of the partial index on busy sessions. The other conditions and the
 * order fit no index: the one on turns would walk every turn of the chat.
 */
const listed = (
  condition: RawBuilder<unknown>,
  { hidden }: Pick<Dialect, 'hidden'>,
): Built<ListedChatRow & { readonly id: string }> =>
  sql`select ${sql.join(CHAT_COLUMNS.map((column) => sql.ref(`chats.${column}`)))}, session_id as id,
      (select title from sessions where sessions.id = chats.session_id) as session_title,
      (select id from runs where runs.session_id = chats.session_id
        and (status = 'queued' or status = 'running' or status = 'suspended')
        and kind = 'agent' and ${hidden('target_id')} = chats.agent_id
        and coalesce(parent_run_id, '') || coalesce(withdrawn_by, '') = ''
        order by runs.created_at + 0, runs.id limit 1) as working_run_id
    from chats where ${condition}`

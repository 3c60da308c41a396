import type { ChatChange, MessageBrief, NewMessage } from '@perdure/ports'
import { sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { insertInto } from '../query/table-queries.ts'
import type { WriteAppliers, WritesOf } from '../transaction.ts'
import { CHAT_COLUMNS, type ChatRow, toChatRow } from './chat-row.ts'
import { findAnyChat } from './chat-store.ts'

export const chatWrites: WriteAppliers<WritesOf<'chat'>> = {
  *'chat.insert'({ db }, { type, chat }) {
    if ((yield* db.get(SELECT_SESSION, { id: chat.sessionId })) === undefined) return { type }
    if ((yield* db.run(insertChat, toChatRow(chat))) === 1) return 1
    const current = yield* findAnyChat(db, chat.sessionId)
    return current?.agentId === chat.agentId ? 0 : { type, current }
  },
  *'chat.change'({ db }, { sessionId: id, change: { title, read } }) {
    return yield* db.run(changeChat, { id, title: title ?? null, ...toReadSeq(read) })
  },
  *'chat.last'({ db }, { sessionId: id, from, last }) {
    const { role = null, text = null, at = null, seq = 0 } = last ?? {}
    return yield* db.run(showLast, { id, from, role, text, at, seq })
  },
}

/** The largest value of the column. PostgreSQL computes the cast below for any larger one, also when the result is not used. */
const MAX_SEQ = 2 ** 31 - 1

const toReadSeq = (read: ChatChange['read']) => ({
  readSeq: typeof read === 'number' ? Math.min(read, MAX_SEQ) : read === 'all' ? MAX_SEQ : null,
  isUnread: read === 'not-answer' ? 1 : 0,
})

const SELECT_SESSION = compile<{ id: string }, { readonly id: string }>((param, { locksRows }) =>
  from
    .selectFrom('sessions')
    .select('id')
    .where('id', '=', param('id'))
    .$if(locksRows, (query) => query.forUpdate()),
)

const insertChat = insertInto<ChatRow>('chats', CHAT_COLUMNS)

interface Change {
  readonly id: string
  readonly title: string | null
  readonly readSeq: number | null
  readonly isUnread: 0 | 1
}

const changeChat = compile<Change, unknown>(
  (param) => sql`update chats set title = coalesce(${param('title')}, title),
    read_seq = case when cast(${param('isUnread')} as integer) = 1 and answer_seq > 0 and read_seq >= answer_seq then answer_seq - 1
      when cast(${param('readSeq')} as bigint) > last_seq then last_seq
      else cast(coalesce(cast(${param('readSeq')} as bigint), read_seq) as integer) end
    where session_id = ${param('id')}`,
)

interface ShownLast {
  readonly id: string
  readonly from: number
  readonly role: NewMessage['role'] | null
  readonly text: string | null
  readonly at: number | null
  readonly seq: number
}

const showLast = compile<ShownLast, unknown>(
  (param) => sql`update chats set last_role = ${param('role')}, last_text = ${param('text')}, last_at = ${param('at')},
    last_seq = ${param('seq')} where session_id = ${param('id')} and last_seq = ${param('from')}`,
)

export interface NotedMessage {
  readonly id: string // of the session
  readonly agentId: string
  readonly role: NewMessage['role']
  readonly text: string
  readonly at: number
  /** `null` after the message was appended in the same transaction: the newest one of the session. */
  readonly seq: number | null
}

export const toNotedMessage = (
  { sessionId: id, role, createdAt: at }: NewMessage,
  { agentId, text }: MessageBrief,
  seq: number | null,
): NotedMessage => ({ id, agentId, role, text, at, seq })

const seqOf = (seq: unknown) => sql`coalesce(cast(${seq} as integer), (select sessions.last_seq from sessions
  where sessions.id = chats.session_id))`

/** Changes what the list shows, if the session is a chat of the agent. */
export const NOTE_MESSAGE = compile<NotedMessage, unknown>(
  (
    param,
    { greatest },
  ) => sql`update chats set last_role = ${param('role')}, last_text = ${param('text')}, last_at = ${param('at')},
    updated_at = ${greatest(sql`cast(${param('at')} as bigint)`, sql`updated_at`)}, last_seq = ${seqOf(param('seq'))},
    answer_seq = case when ${param('role')} = 'assistant' then ${seqOf(param('seq'))} else answer_seq end
    where session_id = ${param('id')} and agent_id = ${param('agentId')}`,
)

export function* noteMessage(
  db: Db,
  { message, brief }: { readonly message: NewMessage; readonly brief?: MessageBrief | undefined },
  seq: number,
): Program<void> {
  if (brief !== undefined) yield* db.run(NOTE_MESSAGE, toNotedMessage(message, brief, seq))
}

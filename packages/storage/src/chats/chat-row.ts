import type { ChatMessageBrief, ChatRecord, EpochMs, ListedChat, NewChat } from '@perdure/ports'
import { type RowIn, recordTable } from '../query/record-table.ts'

const CHATS = recordTable<Omit<ChatRecord, 'lastMessage'>>()({
  sessionId: 'text',
  chatId: 'text',
  agentId: 'text',
  owner: 'text',
  firstText: 'text',
  title: 'text',
  lastSeq: 'integer',
  answerSeq: 'integer',
  readSeq: 'integer',
  createdAt: 'bigint',
  updatedAt: 'bigint',
})

/** The newest message; null without messages. */
interface LastMessageColumns {
  readonly last_role: ChatMessageBrief['role'] | null
  readonly last_text: string | null
  readonly last_at: number | null
}

export type ChatRow = RowIn<typeof CHATS> & LastMessageColumns

export const CHAT_COLUMNS = [...CHATS.columns, 'last_role', 'last_text', 'last_at'] as const

/** A chat with the columns that a list computes. */
export interface ListedChatRow extends ChatRow {
  readonly session_title: string | null
  readonly working_run_id: string | null
}

export const toChatRow = (chat: NewChat): ChatRow => ({
  ...CHATS.toRow({ ...chat, lastSeq: 0, answerSeq: 0, readSeq: 0, updatedAt: chat.createdAt }),
  ...{ last_role: null, last_text: null, last_at: null },
})

export const toChat = (row: ChatRow): ChatRecord => ({ ...CHATS.toRecord(row), lastMessage: lastMessageOf(row) })

const lastMessageOf = ({ last_role: role, last_text: text, last_at: at }: ChatRow): ChatMessageBrief | undefined =>
  role === null || at === null ? undefined : { role, text: text ?? '', at: at as EpochMs }

export const toListedChat = (row: ListedChatRow): ListedChat => ({
  ...toChat(row),
  sessionTitle: row.session_title ?? undefined,
  workingRunId: row.working_run_id ?? undefined,
})

import type { ChatMessageBrief, ChatRecord, EpochMs, ListedChat, NewChat } from '@perdure/ports'

export interface ChatRow {
  readonly session_id: string
  readonly chat_id: string
  readonly agent_id: string
  readonly owner: string
  readonly first_text: string
  readonly title: string | null
  readonly last_role: ChatMessageBrief['role'] | null // null without messages, as the other columns of the newest message
  readonly last_text: string | null
  readonly last_at: number | null
  readonly last_seq: number
  readonly answer_seq: number
  readonly read_seq: number
  readonly created_at: number
  readonly updated_at: number
}

export const CHAT_COLUMNS = [
  ...(['session_id', 'chat_id', 'agent_id', 'owner', 'first_text', 'title', 'last_role', 'last_text'] as const),
  ...(['last_at', 'last_seq', 'answer_seq', 'read_seq', 'created_at', 'updated_at'] as const),
] as const satisfies readonly (keyof ChatRow)[]

/** A chat with the columns that a list computes. */
export interface ListedChatRow extends ChatRow {
  readonly session_title: string | null
  readonly working_run_id: string | null
}

export const toChatRow = (chat: NewChat): ChatRow => ({
  session_id: chat.sessionId,
  chat_id: chat.chatId,
  agent_id: chat.agentId,
  owner: chat.owner,
  first_text: chat.firstText,
  title: chat.title ?? null,
  ...{ last_role: null, last_text: null, last_at: null, last_seq: 0, answer_seq: 0, read_seq: 0 },
  created_at: chat.createdAt,
  updated_at: chat.createdAt,
})

export const toChat = (row: ChatRow): ChatRecord => ({
  sessionId: row.session_id,
  chatId: row.chat_id,
  agentId: row.agent_id,
  owner: row.owner,
  firstText: row.first_text,
  title: row.title ?? undefined,
  lastMessage: lastMessageOf(row),
  lastSeq: row.last_seq,
  answerSeq: row.answer_seq,
  readSeq: row.read_seq,
  createdAt: row.created_at as EpochMs,
  updatedAt: row.updated_at as EpochMs,
})

const lastMessageOf = ({ last_role: role, last_text: text, last_at: at }: ChatRow): ChatMessageBrief | undefined =>
  role === null || at === null ? undefined : { role, text: text ?? '', at: at as EpochMs }

export const toListedChat = (row: ListedChatRow): ListedChat => ({
  ...toChat(row),
  sessionTitle: row.session_title ?? undefined,
  workingRunId: row.working_run_id ?? undefined,
})

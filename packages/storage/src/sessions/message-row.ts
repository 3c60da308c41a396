import type { EpochMs, JsonText, MessageRecord, NewMessage } from '@perdure/ports'

export interface MessageRow {
  readonly session_id: string
  readonly seq: number
  readonly id: string
  readonly role: MessageRecord['role']
  readonly run_id: string | null
  readonly created_at: number
  readonly content: string
}

/** Without the column that names the session. */
export const MESSAGE_COLUMNS = ['seq', 'id', 'role', 'run_id', 'created_at', 'content'] as const

export const toMessageRow = (message: NewMessage, seq: number): MessageRow => ({
  session_id: message.sessionId,
  seq,
  id: message.id,
  role: message.role,
  run_id: message.runId ?? null,
  created_at: message.createdAt,
  content: message.content,
})

export const toMessage = (row: Omit<MessageRow, 'session_id'>, sessionId: string): MessageRecord => ({
  id: row.id,
  sessionId,
  seq: row.seq,
  role: row.role,
  content: row.content as JsonText,
  runId: row.run_id ?? undefined,
  createdAt: row.created_at as EpochMs,
})

import type { EpochMs, JsonText, MessageRecord, NewMessage } from '@perdure/ports'
import type { Selectable } from 'kysely'
import type { MessageTable } from '../query/schema.ts'

export type MessageRow = Selectable<MessageTable>
export type NewMessageRow = MessageTable

export const MESSAGE_COLUMNS = ['session_id', 'seq', 'id', 'role', 'run_id', 'created_at', 'content'] as const

export const toMessageRow = (message: NewMessage, seq: number): NewMessageRow => ({
  session_id: message.sessionId,
  seq,
  id: message.id,
  role: message.role,
  run_id: message.runId ?? null,
  created_at: message.createdAt,
  content: message.content,
})

export const toMessage = (row: MessageRow, sessionId: string): MessageRecord => ({
  id: row.id,
  sessionId,
  seq: row.seq,
  role: row.role,
  content: row.content as JsonText,
  runId: row.run_id ?? undefined,
  createdAt: row.created_at as EpochMs,
})

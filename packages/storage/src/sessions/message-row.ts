import type { EpochMs, JsonText, MessageRecord, NewMessage } from '@perdure/ports'
import { type RowIn, recordTable } from '../query/record-table.ts'

/** Without the column that names the session. */
export const MESSAGES = recordTable<Omit<MessageRecord, 'sessionId'>>()({
  seq: 'integer',
  id: 'text',
  role: 'text',
  runId: 'text',
  createdAt: 'bigint',
  content: 'text',
})

export interface MessageRow extends RowIn<typeof MESSAGES> {
  readonly session_id: string
}

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

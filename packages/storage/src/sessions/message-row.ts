import type { EpochMs, JsonText, MessageRecord, NewMessage } from '@perdure/ports'
import { type ColumnTypes, columnsOf } from '../query/column-types.ts'

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
export const MESSAGE_TYPES: ColumnTypes<Omit<MessageRow, 'session_id'>> = {
  seq: 'integer',
  id: 'text',
  role: 'text',
  run_id: 'text',
  created_at: 'bigint',
  content: 'text',
}

export const MESSAGE_COLUMNS = columnsOf(MESSAGE_TYPES)

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

import type { SessionRecord } from '@perdure/ports'
import { type ColumnTypes, columnsOf, JSON_TEXT, type RowIn, recordTable } from '../query/record-table.ts'

export const SESSIONS = recordTable<SessionRecord>()({
  id: 'text',
  owner: 'text',
  title: 'text',
  userId: 'text',
  agentId: 'text',
  createdAt: 'bigint',
  updatedAt: 'bigint',
  metadata: JSON_TEXT,
})

export interface SessionRow extends RowIn<typeof SESSIONS> {
  readonly last_seq: number // seq of the newest message; 0 without messages
}

export const SESSION_TYPES: ColumnTypes<SessionRow> = { ...SESSIONS.types, last_seq: 'integer' }

export const SESSION_COLUMNS = columnsOf(SESSION_TYPES)

export const CHANGING_SESSIONS = SESSIONS.only('title', 'metadata')

export type ChangingSessionColumns = RowIn<typeof CHANGING_SESSIONS>

export const toSessionRow = (session: SessionRecord): SessionRow => ({ ...SESSIONS.toRow(session), last_seq: 0 })

import type { ChangingSession, EpochMs, SessionRecord } from '@perdure/ports'
import { type ColumnTypes, columnsOf } from '../query/column-types.ts'

export interface SessionRow {
  readonly id: string
  readonly owner: string
  readonly title: string | null
  readonly user_id: string | null
  readonly agent_id: string | null
  readonly last_seq: number // seq of the newest message; 0 without messages
  readonly created_at: number
  readonly updated_at: number
  readonly metadata: string
}

export const SESSION_TYPES: ColumnTypes<SessionRow> = {
  id: 'text',
  owner: 'text',
  title: 'text',
  user_id: 'text',
  agent_id: 'text',
  last_seq: 'integer',
  created_at: 'bigint',
  updated_at: 'bigint',
  metadata: 'text',
}

export const SESSION_COLUMNS = columnsOf(SESSION_TYPES)

export const CHANGING_SESSION_COLUMNS = ['title', 'metadata'] as const

export type ChangingSessionColumns = Pick<SessionRow, (typeof CHANGING_SESSION_COLUMNS)[number]>

export const toChangingColumns = ({ title, metadata }: ChangingSession): ChangingSessionColumns => ({
  title: title ?? null,
  metadata: JSON.stringify(metadata),
})

export const toSessionRow = (session: SessionRecord): SessionRow => ({
  ...toChangingColumns(session),
  id: session.id,
  owner: session.owner,
  user_id: session.userId ?? null,
  agent_id: session.agentId ?? null,
  last_seq: 0,
  created_at: session.createdAt,
  updated_at: session.updatedAt,
})

export const toSession = (row: SessionRow): SessionRecord => ({
  id: row.id,
  owner: row.owner,
  title: row.title ?? undefined,
  userId: row.user_id ?? undefined,
  agentId: row.agent_id ?? undefined,
  metadata: JSON.parse(row.metadata),
  createdAt: row.created_at as EpochMs,
  updatedAt: row.updated_at as EpochMs,
})

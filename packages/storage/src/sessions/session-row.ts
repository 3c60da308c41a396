import type { EpochMs, SessionRecord } from '@perdure/ports'

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

export const SESSION_COLUMNS = [
  'id',
  'owner',
  'title',
  'user_id',
  'agent_id',
  'last_seq',
  'created_at',
  'updated_at',
  'metadata',
] as const

export const toSessionRow = (session: SessionRecord): SessionRow => ({
  id: session.id,
  owner: session.owner,
  title: session.title ?? null,
  user_id: session.userId ?? null,
  agent_id: session.agentId ?? null,
  last_seq: 0,
  created_at: session.createdAt,
  updated_at: session.updatedAt,
  metadata: JSON.stringify(session.metadata),
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

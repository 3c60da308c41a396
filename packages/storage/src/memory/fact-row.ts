import type { EpochMs, FactRecord } from '@perdure/ports'

export interface FactRow {
  readonly id: string
  readonly namespace: string
  readonly owner: string
  readonly importance: number
  readonly weighed_at: number
  readonly fingerprint: string
  readonly source_run_id: string | null
  readonly source_session_id: string | null
  readonly created_at: number
  readonly updated_at: number
  readonly expires_at: number | null
  readonly revision: number
  readonly tags: string | readonly string[] // SQLite: a JSON array
  readonly metadata: string
  readonly text: string
}

export const CHANGING_FACT_COLUMNS = [
  'namespace',
  'importance',
  'weighed_at',
  'fingerprint',
  'source_run_id',
  'source_session_id',
  'updated_at',
  'expires_at',
  'revision',
  'tags',
  'metadata',
  'text',
] as const

export const FACT_COLUMNS = ['id', 'owner', 'created_at', ...CHANGING_FACT_COLUMNS] as const

export const toFactRow = (fact: FactRecord): FactRow => ({
  id: fact.id,
  namespace: fact.namespace,
  owner: fact.owner,
  importance: fact.importance,
  weighed_at: fact.weighedAt,
  fingerprint: fact.fingerprint,
  source_run_id: fact.sourceRunId ?? null,
  source_session_id: fact.sourceSessionId ?? null,
  created_at: fact.createdAt,
  updated_at: fact.updatedAt,
  expires_at: fact.expiresAt ?? null,
  revision: fact.revision,
  tags: fact.tags,
  metadata: JSON.stringify(fact.metadata),
  text: fact.text,
})

export const toFact = (row: FactRow): FactRecord => ({
  id: row.id,
  namespace: row.namespace,
  owner: row.owner,
  text: row.text,
  tags: typeof row.tags === 'string' ? JSON.parse(row.tags) : row.tags,
  metadata: JSON.parse(row.metadata),
  importance: row.importance,
  weighedAt: row.weighed_at as EpochMs,
  fingerprint: row.fingerprint,
  sourceRunId: row.source_run_id ?? undefined,
  sourceSessionId: row.source_session_id ?? undefined,
  createdAt: row.created_at as EpochMs,
  updatedAt: row.updated_at as EpochMs,
  expiresAt: (row.expires_at ?? undefined) as EpochMs | undefined,
  revision: row.revision,
})

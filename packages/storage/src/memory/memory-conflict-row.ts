import type { EpochMs, MemoryConflictRecord } from '@perdure/ports'

export interface MemoryConflictRow {
  readonly id: string
  readonly namespace: string
  readonly owner: string
  readonly fact_id: string
  readonly other_fact_id: string
  readonly status: MemoryConflictRecord['status']
  readonly created_at: number
  readonly resolved_at: number | null
  readonly by: string | null
  readonly reason: string | null
}

export const MEMORY_CONFLICT_COLUMNS = [
  'id',
  'namespace',
  'owner',
  'fact_id',
  'other_fact_id',
  'status',
  'created_at',
  'resolved_at',
  'by',
  'reason',
] as const

export const toMemoryConflictRow = (conflict: MemoryConflictRecord): MemoryConflictRow => ({
  id: conflict.id,
  namespace: conflict.namespace,
  owner: conflict.owner,
  fact_id: conflict.factIds[0],
  other_fact_id: conflict.factIds[1],
  status: conflict.status,
  created_at: conflict.createdAt,
  resolved_at: conflict.resolvedAt ?? null,
  by: conflict.by ?? null,
  reason: conflict.reason ?? null,
})

export const toMemoryConflict = (row: MemoryConflictRow): MemoryConflictRecord => ({
  id: row.id,
  namespace: row.namespace,
  owner: row.owner,
  factIds: [row.fact_id, row.other_fact_id],
  status: row.status,
  createdAt: row.created_at as EpochMs,
  resolvedAt: (row.resolved_at ?? undefined) as EpochMs | undefined,
  by: row.by ?? undefined,
  reason: row.reason ?? undefined,
})

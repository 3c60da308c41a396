import type { MemoryConflictRecord } from '@perdure/ports'
import { type RowIn, recordTable } from '../query/record-table.ts'

const CONFLICTS = recordTable<Omit<MemoryConflictRecord, 'factIds'>>()({
  id: 'text',
  namespace: 'text',
  owner: 'text',
  status: 'text',
  createdAt: 'bigint',
  resolvedAt: 'bigint',
  by: 'text',
  reason: 'text',
})

export interface MemoryConflictRow extends RowIn<typeof CONFLICTS> {
  readonly fact_id: string
  readonly other_fact_id: string
}

export const MEMORY_CONFLICT_COLUMNS = [...CONFLICTS.columns, 'fact_id', 'other_fact_id'] as const

export const toMemoryConflictRow = (conflict: MemoryConflictRecord): MemoryConflictRow => {
  const [fact_id, other_fact_id] = conflict.factIds
  return { ...CONFLICTS.toRow(conflict), fact_id, other_fact_id }
}

export const toMemoryConflict = (row: MemoryConflictRow): MemoryConflictRecord => ({
  ...CONFLICTS.toRecord(row),
  factIds: [row.fact_id, row.other_fact_id],
})

import type { BlockRecord, EpochMs } from '@perdure/ports'

export interface BlockRow {
  readonly id: string
  readonly owner: string
  readonly namespace: string
  readonly label: string
  readonly limit: number
  readonly created_at: number
  readonly updated_at: number
  readonly value: string
}

export const BLOCK_COLUMNS = [
  'id',
  'owner',
  'namespace',
  'label',
  'limit',
  'created_at',
  'updated_at',
  'value',
] as const

export const toBlockRow = (block: BlockRecord): BlockRow => ({
  id: block.id,
  owner: block.owner,
  namespace: block.namespace,
  label: block.label,
  limit: block.limit,
  created_at: block.createdAt,
  updated_at: block.updatedAt,
  value: block.value,
})

export const toBlock = (row: BlockRow): BlockRecord => ({
  id: row.id,
  owner: row.owner,
  namespace: row.namespace,
  label: row.label,
  limit: row.limit,
  createdAt: row.created_at as EpochMs,
  updatedAt: row.updated_at as EpochMs,
  value: row.value,
})

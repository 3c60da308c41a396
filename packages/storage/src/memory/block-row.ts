import type { BlockRecord } from '@perdure/ports'
import { type RowIn, recordTable } from '../query/record-table.ts'

export type BlockRow = RowIn<typeof BLOCKS>

export const BLOCKS = recordTable<BlockRecord>()({
  id: 'text',
  owner: 'text',
  namespace: 'text',
  label: 'text',
  limit: 'integer',
  createdAt: 'bigint',
  updatedAt: 'bigint',
  value: 'text',
})

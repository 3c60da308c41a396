import type { McpServerRecord } from '@perdure/ports'
import { type RowIn, recordTable } from '../query/record-table.ts'

export type McpServerRow = RowIn<typeof MCP_SERVERS>

export const MCP_SERVERS = recordTable<McpServerRecord>()({
  id: 'text',
  url: 'text',
  headersRef: 'text',
  createdAt: 'bigint',
  createdBy: 'text',
})

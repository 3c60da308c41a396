import type { EpochMs, McpServerRecord } from '@perdure/ports'

export interface McpServerRow {
  readonly id: string
  readonly url: string
  readonly headers_ref: string | null
  readonly created_at: number
  readonly created_by: string
}

export const MCP_SERVER_COLUMNS = ['id', 'url', 'headers_ref', 'created_at', 'created_by'] as const

export const toMcpServerRow = (server: McpServerRecord): McpServerRow => ({
  id: server.id,
  url: server.url,
  headers_ref: server.headersRef ?? null,
  created_at: server.createdAt,
  created_by: server.createdBy,
})

export const toMcpServer = (row: McpServerRow): McpServerRecord => ({
  id: row.id,
  url: row.url,
  headersRef: row.headers_ref ?? undefined,
  createdAt: row.created_at as EpochMs,
  createdBy: row.created_by,
})

import type { EpochMs } from './clock.ts'

/** An MCP server that was bound over REST; those of the configuration are not stored. */
export interface McpServerRecord {
  readonly id: string
  readonly url: string
  readonly headersRef?: string | undefined // secret reference of the headers sent to it
  readonly createdAt: EpochMs
  readonly createdBy: string // subject of who bound it
}

/** Port. Reads of bound MCP servers; written through `UnitOfWork`. Passes `mcpServerStoreContract`. */
export interface McpServerStore {
  find(id: string): Promise<McpServerRecord | undefined>
  /** Every one of them, by id in code-unit order. */
  list(): Promise<readonly McpServerRecord[]>
}

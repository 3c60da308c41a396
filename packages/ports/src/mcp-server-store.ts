import type { EpochMs } from './clock.ts'

/** An MCP server that was added over REST; servers from the configuration are not stored. */
export interface McpServerRecord {
  readonly id: string
  readonly url: string
  readonly headersRef?: string | undefined // secret reference to the headers sent to the server
  readonly createdAt: EpochMs
  readonly createdBy: string // subject that added the server
}

/** Port. Reads added MCP servers; every write goes through `UnitOfWork`. Must pass `mcpServerStoreContract`. */
export interface McpServerStore {
  find(id: string): Promise<McpServerRecord | undefined>
  /** Lists all added servers, ordered by id in code-unit order. */
  list(): Promise<readonly McpServerRecord[]>
}

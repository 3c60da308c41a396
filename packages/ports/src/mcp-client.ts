import type { McpStatus, ToolFailureKind } from '@perdure/protocol'

interface StdioEndpoint {
  readonly transport: 'stdio'
  readonly id: string
  readonly command: string // a program, never a shell command line
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>> // added to a few harmless inherited variables
  readonly envRefs: Readonly<Record<string, string>> // variables whose values are secret references
  readonly cwd?: string | undefined
}

interface HttpEndpoint {
  readonly transport: 'http'
  readonly id: string
  readonly url: string
  readonly headersRef?: string | undefined // secret reference: a JSON object of headers, or one line `Name: value`
}

/** How to reach an MCP server. A call with the same id but different members replaces the connection. */
export type McpEndpoint = StdioEndpoint | HttpEndpoint

export interface McpTool {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema: Readonly<Record<string, unknown>>
}

export interface McpCall {
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly timeoutMs?: number | undefined // capped at the configured timeout
  readonly signal?: AbortSignal | undefined
  readonly traceparent?: string | undefined // of the caller; sent to the server as `_meta.traceparent`
}

/** A failure of the tool, or of the server after the call was sent, is returned as data, not thrown. */
export type McpOutcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: { readonly kind: ToolFailureKind; readonly message: string } }

/**
 * Port. Connections to MCP servers: opened on first use, kept open, reopened after a loss, with increasing backoff
 * after failures. A server that hangs, floods, crashes or sends invalid messages affects only its own callers.
 */
export interface McpClient {
  /** Lists the tools of the server, ordered by name. @throws PerdureError `mcp-server-unavailable` */
  tools(endpoint: McpEndpoint): Promise<readonly McpTool[]>
  /** @throws PerdureError `mcp-server-unavailable` if the call was not sent; `mcp-tool-not-found` */
  call(endpoint: McpEndpoint, call: McpCall): Promise<McpOutcome>
  status(id: string): McpStatus
  /** Closes the connection and ends the process of a stdio server. A no-op if there is no connection. */
  disconnect(id: string): Promise<void>
  /** Closes every connection and ends every process; later calls cannot connect. Idempotent. */
  close(): Promise<void>
}

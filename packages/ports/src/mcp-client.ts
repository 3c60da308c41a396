import type { ToolFailureKind } from '@perdure/protocol'

interface StdioEndpoint {
  readonly transport: 'stdio'
  readonly id: string
  readonly command: string // a program, never a line for a shell
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>> // besides a few harmless variables; nothing else is inherited
  readonly envRefs: Readonly<Record<string, string>> // variables whose values are secret references
  readonly cwd?: string | undefined
}

interface HttpEndpoint {
  readonly transport: 'http'
  readonly id: string
  readonly url: string
  readonly headersRef?: string | undefined // secret reference: a JSON object of headers, or one line `Name: value`
}

/** Where an MCP server is. Two with one id and different members are two connections, of which the later one stays. */
export type McpEndpoint = StdioEndpoint | HttpEndpoint

/** `failed`: the last attempt to connect, or the connection, has failed. */
export type McpStatus = 'connected' | 'disconnected' | 'failed'

export interface McpTool {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema: Readonly<Record<string, unknown>>
}

export interface McpCall {
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly timeoutMs?: number | undefined // never longer than the one of the configuration
  readonly signal?: AbortSignal | undefined
  readonly traceparent?: string | undefined // of whoever calls; told to the server as `_meta.traceparent`
}

/** A failure of the tool, or of the server once the call was on its way, is data. */
export type McpOutcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: { readonly kind: ToolFailureKind; readonly message: string } }

/**
 * Port. Connections to MCP servers, made at first use, kept, and made again after they are lost; after failures a server
 * is left alone for a while that grows. A server that hangs, floods, crashes or answers nonsense costs its own callers an
 * answer, and nobody else anything.
 */
export interface McpClient {
  /** The tools of the server, by name. @throws AppError `mcp-server-unavailable` */
  tools(endpoint: McpEndpoint): Promise<readonly McpTool[]>
  /** @throws AppError `mcp-server-unavailable` when the call was not sent; `mcp-tool-not-found` */
  call(endpoint: McpEndpoint, call: McpCall): Promise<McpOutcome>
  status(id: string): McpStatus
  /** Ends the connection, and the process of a stdio server. A no-op when there is none. */
  disconnect(id: string): Promise<void>
  /** Ends every connection and process; nothing connects afterwards. Idempotent. */
  close(): Promise<void>
}

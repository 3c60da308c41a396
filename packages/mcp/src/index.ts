export type { Fetch } from './bounded-fetch.ts'
export { createMcpClient, type McpClientOptions } from './mcp-client.ts'

export type { Fetch } from './bounded-fetch.ts'
export { checkJson } from './check-json.ts'
export { createMcpClient, type McpClientOptions } from './mcp-client.ts'

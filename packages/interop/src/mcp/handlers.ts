import { type Handlers, type ProtocolRequest, toCall } from '../handlers.ts'
import type { McpCall } from './mcp-call.ts'
import { createMcpServer, type McpServerDeps } from './mcp-server.ts'

/** `/mcp`: this server as an MCP server. */
export function mcpHandlers(deps: McpServerDeps): Handlers<'mcp'> {
  const mcp = createMcpServer(deps)
  return {
    sendMcpMessage: (call) => mcp.send(toMcpCall(call), call.body),
    resumeMcpStream: (call) => mcp.resume(toMcpCall(call)),
    sendAgentMcpMessage: (call) => mcp.send({ ...toMcpCall(call), agentId: call.params.agentId }, call.body),
    resumeAgentMcpStream: (call) => mcp.resume({ ...toMcpCall(call), agentId: call.params.agentId }),
  }
}

const toMcpCall = (call: Pick<ProtocolRequest, keyof McpCall & keyof ProtocolRequest>): McpCall => {
  const { acceptsEventStream, header } = call
  return { ...toCall(call), acceptsEventStream, header }
}

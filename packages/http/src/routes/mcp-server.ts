import type { mcpServerOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { McpCall, UseCases } from '../http-app-deps.ts'

/** `/mcp`: this server as an MCP server. */
export const mcpServerRoutes = ({ mcp }: Pick<UseCases, 'mcp'>): Handlers<typeof mcpServerOperations> => ({
  sendMcpMessage: (call) => mcp.send(toMcpCall(call), call.body),
  resumeMcpStream: (call) => mcp.resume(toMcpCall(call)),
  sendAgentMcpMessage: (call) => mcp.send({ ...toMcpCall(call), agentId: call.params.agentId }, call.body),
  resumeAgentMcpStream: (call) => mcp.resume({ ...toMcpCall(call), agentId: call.params.agentId }),
})

const toMcpCall = ({
  principal,
  visibility,
  traceparent,
  hangUp,
  lastEventId,
  acceptsEventStream,
  header,
  charge,
}: McpCall): McpCall => ({
  ...{ principal, visibility, traceparent, hangUp, lastEventId, acceptsEventStream, header, charge },
})

import type { mcpServerOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { McpCall, UseCases } from '../http-app-deps.ts'

/** `/mcp`: this server as an MCP server. */
export const mcpServerRoutes = ({ mcpServer }: Pick<UseCases, 'mcpServer'>): Handlers<typeof mcpServerOperations> => ({
  sendMcpMessage: (call) => mcpServer.send(toMcpCall(call), call.body),
  resumeMcpStream: (call) => mcpServer.resume(toMcpCall(call)),
  sendAgentMcpMessage: (call) => mcpServer.send({ ...toMcpCall(call), agentId: call.params.agentId }, call.body),
  resumeAgentMcpStream: (call) => mcpServer.resume({ ...toMcpCall(call), agentId: call.params.agentId }),
})

const toMcpCall = ({
  principal,
  visibility,
  traceparent,
  hangUp,
  lastEventId,
  acceptsEventStream,
  header,
}: McpCall): McpCall => ({
  ...{ principal, visibility, traceparent, hangUp, lastEventId, acceptsEventStream, header },
})

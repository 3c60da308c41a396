import type { mcpOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'

/** `/mcp/servers`: MCP servers, their tools, and tool calls. */
export const mcpRoutes = ({
  manageMcp,
  useMcp,
}: Pick<UseCases, 'manageMcp' | 'useMcp'>): Handlers<typeof mcpOperations> => ({
  listMcpServers: async ({ query }) => ({ status: 200, body: await manageMcp.list(query) }),
  bindMcpServer: ({ body: server, principal, key }) => manageMcp.bind({ server, principal, key }),
  removeMcpServer: ({ params, principal, key }) => manageMcp.remove({ id: params.serverId, principal, key }),
  listMcpTools: async ({ params, query }) => ({ status: 200, body: await useMcp.tools(params.serverId, query) }),
  callMcpTool: ({ params: { serverId, toolName: tool }, body, key, traceparent }) =>
    useMcp.call({ serverId, tool, arguments: body.arguments ?? {}, key, traceparent }),
})

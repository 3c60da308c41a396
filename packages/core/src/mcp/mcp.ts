import type { ServiceCaller } from '../durable/service-caller.ts'
import { createManageMcp, type ManageMcpDeps } from './manage-mcp.ts'
import { createMcpServers, type McpServersDeps } from './mcp-servers.ts'
import { createRunMcp } from './run-mcp.ts'
import { createUseMcp, type UseMcpDeps } from './use-mcp.ts'

export type McpDeps = McpServersDeps & Omit<ManageMcpDeps, 'servers'> & Omit<UseMcpDeps, 'servers'>

/** Everything of MCP, wired once: the use cases for the edges, and when configured tokens expire. */
export function createMcp(deps: McpDeps) {
  const servers = createMcpServers(deps)
  const expiring = deps.configured.flatMap(({ endpoint, tokenExpiresAt }) =>
    tokenExpiresAt === undefined ? [] : [{ server: endpoint.id, tokenExpiresAt }],
  )
  return {
    manageMcp: createManageMcp({ ...deps, servers }),
    useMcp: createUseMcp({ ...deps, servers }),
    /** Seconds until each configured token expires. */
    tokenFreshness: () =>
      expiring.map(({ server, tokenExpiresAt }) => ({ server, seconds: (tokenExpiresAt - deps.clock.now()) / 1_000 })),
  }
}

/** What the runs of this server find as `ctx.mcp`. */
export function createMcpService(deps: McpServersDeps) {
  const servers = createMcpServers(deps)
  return (caller: ServiceCaller) => createRunMcp({ servers, mcpClient: deps.mcpClient }, caller)
}

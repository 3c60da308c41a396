import type { ServiceCaller } from '../durable/service-caller.ts'
import { createManageMcp, type ManageMcpDeps } from './manage-mcp.ts'
import { createMcpServers, type McpServersDeps } from './mcp-servers.ts'
import { createRunMcp } from './run-mcp.ts'
import { createUseMcp, type UseMcpDeps } from './use-mcp.ts'

export type McpDeps = McpServersDeps & Omit<ManageMcpDeps, 'servers'> & Omit<UseMcpDeps, 'servers'>

/** Wires the use cases of MCP, and reports when configured tokens expire. */
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

/** Creates `ctx.mcp` of each run. */
export function createMcpService(deps: McpServersDeps) {
  const servers = createMcpServers(deps)
  return (caller: ServiceCaller) => createRunMcp({ servers, mcpClient: deps.mcpClient }, caller)
}

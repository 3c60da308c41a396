import {
  type McpClient,
  type McpServerRecord,
  type McpServerStore,
  type Page,
  type PageQuery,
  perdureError,
} from '@perdure/ports'
import { auditWrite } from '../audit/audit-write.ts'
import type { Principal } from '../auth/principal.ts'
import { pageByName } from '../collections/page-by-name.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import {
  type AllowedBindings,
  checkBinding,
  type McpServerResource,
  type McpServers,
  toMcpResource,
} from './mcp-servers.ts'

export interface ManageMcpDeps extends CommitOnceDeps {
  readonly servers: McpServers
  readonly mcpServers: McpServerStore
  readonly mcpClient: McpClient
  readonly allowed: AllowedBindings
  readonly basePath: string
}

interface ManageRequest {
  readonly principal: Principal
  readonly key?: KeyedRequest | undefined
}

/**
 * Adds and removes MCP servers over REST; each change writes an audit entry. The connection to an MCP server is opened
 * when a tool is requested.
 */
export interface ManageMcp {
  list(page: PageQuery): Promise<Page<McpServerResource>>
  /** @throws PerdureError `mcp-server-exists`, `mcp-host-denied`, `mcp-headers-denied`, `validation-failed` */
  bind(request: ManageRequest & { readonly server: Pick<McpServerRecord, 'id' | 'url' | 'headersRef'> }): Promise<Reply>
  /** @throws PerdureError `mcp-server-not-found`; `validation-failed` for a server in the configuration */
  remove(request: ManageRequest & { readonly id: string }): Promise<Reply>
}

export function createManageMcp(deps: ManageMcpDeps): ManageMcp {
  const { servers, mcpServers, mcpClient, allowed, clock, basePath } = deps

  return {
    list: async (page) => pageByName(await servers.list(), ({ id }) => id, page),
    async bind({ server: { id, url, headersRef }, principal, key }) {
      checkBinding({ url, headersRef }, allowed)
      const once = await commitOnce(deps, key, async () => {
        if (servers.isConfigured(id) || (await mcpServers.find(id)) !== undefined)
          throw perdureError('mcp-server-exists')
        const now = clock.now()
        const server: McpServerRecord = { id, url, headersRef, createdAt: now, createdBy: principal.subject }
        const entry = { at: now, action: 'mcp.bind', target: id, detail: { url } }
        return {
          writes: [{ type: 'mcp-server.insert', server }, auditWrite(principal, entry)],
          reply: { status: 201, body: toMcpResource(server), location: `${basePath}/mcp/servers/${id}` },
          remember: true,
        }
      })
      return once.kind === 'replayed' ? once.reply : once.decision.reply
    },
    async remove({ id, principal, key }) {
      if (servers.isConfigured(id)) {
        throw perdureError('validation-failed', {
          message: `${id} is defined in the configuration`,
          hint: 'remove the server from mcpServers',
        })
      }
      const once = await commitOnce(deps, key, async () => {
        if ((await mcpServers.find(id)) === undefined) throw perdureError('mcp-server-not-found')
        const entry = { at: clock.now(), action: 'mcp.remove', target: id }
        return {
          writes: [{ type: 'mcp-server.delete', id }, auditWrite(principal, entry)],
          reply: { status: 204 },
          remember: true,
        }
      })
      if (once.kind === 'replayed') return once.reply
      await mcpClient.disconnect(id)
      return once.decision.reply
    },
  }
}

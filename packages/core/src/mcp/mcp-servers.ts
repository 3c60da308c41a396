import {
  definedMembers,
  type EpochMs,
  type McpClient,
  type McpEndpoint,
  type McpServerRecord,
  type McpServerStore,
  type McpStatus,
  perdureError,
} from '@perdure/ports'

/** An MCP server in the configuration. */
export interface ConfiguredMcpServer {
  readonly endpoint: McpEndpoint
  /** When the token in its headers expires. */
  readonly tokenExpiresAt?: EpochMs | undefined
}

export interface McpServersDeps {
  readonly configured: readonly ConfiguredMcpServer[]
  readonly mcpServers: McpServerStore
  readonly mcpClient: McpClient
  readonly allowed: AllowedBindings
}

/** Hosts that MCP servers added over REST may use, and references to the secrets that may be sent to these hosts. */
export interface AllowedBindings {
  readonly hosts: readonly string[] // with the port, unless it is the default port
  readonly headersRefs: readonly string[]
}

/** Every MCP server, whether from the configuration or added over REST. */
export interface McpServers {
  /** Sorted by id. */
  list(): Promise<readonly McpServerResource[]>
  /**
   * @throws PerdureError `mcp-server-not-found`; `mcp-host-denied`, `mcp-headers-denied` if the server was added over REST
   *   and is no longer allowed
   */
  endpoint(id: string): Promise<McpEndpoint>
  isConfigured(id: string): boolean
}

export interface McpServerResource {
  readonly id: string
  readonly transport: 'stdio' | 'http'
  readonly url?: string | undefined
  readonly status: McpStatus
  readonly source: 'config' | 'api'
}

export function createMcpServers({ configured, mcpServers, mcpClient, allowed }: McpServersDeps): McpServers {
  const byId = new Map(configured.map(({ endpoint }) => [endpoint.id, endpoint]))

  const toResource = (endpoint: McpEndpoint, source: 'config' | 'api'): McpServerResource => ({
    ...{ id: endpoint.id, transport: endpoint.transport, source, status: mcpClient.status(endpoint.id) },
    ...(endpoint.transport === 'http' ? { url: endpoint.url } : {}),
  })

  return {
    async list() {
      const bound = (await mcpServers.list()).filter(({ id }) => !byId.has(id)).map(toEndpoint)
      return [
        ...Array.from(byId.values(), (endpoint) => toResource(endpoint, 'config')),
        ...bound.map((endpoint) => toResource(endpoint, 'api')),
      ].sort((one, other) => (one.id < other.id ? -1 : 1))
    },
    async endpoint(id) {
      const configuredEndpoint = byId.get(id)
      if (configuredEndpoint !== undefined) return configuredEndpoint
      const bound = await mcpServers.find(id)
      if (bound === undefined) throw perdureError('mcp-server-not-found')
      checkBinding(bound, allowed)
      return toEndpoint(bound)
    },
    isConfigured: (id) => byId.has(id),
  }
}

export const toMcpResource = ({ id, url }: McpServerRecord): McpServerResource => ({
  ...{ id, transport: 'http', url, status: 'disconnected', source: 'api' },
})

const toEndpoint = ({ id, url, headersRef }: McpServerRecord): McpEndpoint => ({
  ...{ transport: 'http', id, url },
  ...definedMembers({ headersRef }),
})

/**
 * Checks an MCP server before it is added over REST: the host (name and port) and the reference to the secret headers
 * must both be allowed.
 *
 * @throws PerdureError `validation-failed`, `mcp-host-denied`, `mcp-headers-denied`
 */
export function checkBinding(
  { url: text, headersRef }: Pick<McpServerRecord, 'url' | 'headersRef'>,
  { hosts, headersRefs }: AllowedBindings,
): void {
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw invalid('must start with http: or https:')
  if (url.username !== '' || url.password !== '') throw invalid('must not contain credentials; use headersRef')
  if (!hosts.some((host) => new URL(`${url.protocol}//${host}`).host === url.host)) {
    throw perdureError('mcp-host-denied', { hint: `ask the operator to add ${url.host} to mcp.allowHosts` })
  }
  if (headersRef !== undefined && !headersRefs.includes(headersRef)) {
    throw perdureError('mcp-headers-denied', {
      hint: 'ask the operator to add this reference to mcp.allowHeadersRefs',
    })
  }
}

const invalid = (message: string) => perdureError('validation-failed', { message: `body.url: ${message}` })

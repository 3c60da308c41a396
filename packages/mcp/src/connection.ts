import { Client, type ClientOptions, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import type { McpEndpoint, McpTool, Timers } from '@perdure/ports'
import { createBoundedFetch, type Fetch } from './bounded-fetch.ts'
import { parseHeaders } from './parse-headers.ts'
import { createStdioTransport } from './stdio-transport.ts'

export interface ConnectionDeps {
  readonly timers: Timers
  readonly fetch: Fetch
  /** @throws Error that names the reference */
  readonly resolveSecret: (reference: string) => Promise<string>
  readonly version: string
  readonly connectTimeoutMs: number
  readonly callTimeoutMs: number
  readonly maxResultBytes: number
}

/** One connection that was made. */
export interface Connection {
  readonly client: Client
  /** Listed once, and again after the server has told of a change. @throws Error */
  tools(): Promise<readonly McpTool[]>
  isOpen(): boolean
  close(): Promise<void>
}

/** A message is an answer with its envelope. */
const ENVELOPE_BYTES = 65_536
const GRACE_MS = 1_000
const MAX_TOOL_PAGES = 50

/** Connects and shakes hands. @throws Error when that fails or takes too long; nothing of it is left then */
export async function openConnection(
  deps: ConnectionDeps,
  endpoint: McpEndpoint,
  onClose: (error: Error | undefined) => void,
): Promise<Connection> {
  const { connectTimeoutMs, callTimeoutMs, version } = deps
  const transport = await createTransport(deps, endpoint)
  const client = new Client(
    { name: 'perdure', version },
    // What a tool returns goes to the agent as it is; a schema of a stranger is not compiled for that.
    { jsonSchemaValidator: TRUSTING, listMaxPages: MAX_TOOL_PAGES },
  )
  let listed: Promise<readonly McpTool[]> | undefined
  let lastError: Error | undefined
  let isOpen = false
  client.onerror = (error) => {
    lastError = error
  }
  client.onclose = () => {
    if (isOpen) onClose(lastError)
    isOpen = false
  }
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    listed = undefined
  })
  try {
    await withinTime(deps.timers, connectTimeoutMs, client.connect(transport, { timeout: connectTimeoutMs }))
    isOpen = true
  } catch (error) {
    await transport.close().catch(() => undefined)
    throw lastError ?? error
  }

  return {
    client,
    tools() {
      listed ??= listTools(client, callTimeoutMs).catch((error: unknown) => {
        listed = undefined
        throw error
      })
      return listed
    },
    isOpen: () => isOpen,
    async close() {
      isOpen = false
      await client.close().catch(() => undefined)
      await transport.close().catch(() => undefined)
    },
  }
}

async function createTransport(deps: ConnectionDeps, endpoint: McpEndpoint): Promise<Transport> {
  const { timers, maxResultBytes, resolveSecret } = deps
  const maxMessageBytes = maxResultBytes + ENVELOPE_BYTES
  if (endpoint.transport === 'http') {
    const { url, headersRef } = endpoint
    const headers = headersRef === undefined ? {} : parseHeaders(await resolveSecret(headersRef))
    const { origin } = new URL(url)
    return new StreamableHTTPClientTransport(new URL(url), {
      fetch: createBoundedFetch({ origin, maxBytes: maxMessageBytes, fetch: deps.fetch }),
      requestInit: { headers },
      reconnectionOptions: {
        ...{ maxRetries: 2, initialReconnectionDelay: 1_000, maxReconnectionDelay: 10_000 },
        reconnectionDelayGrowFactor: 2,
      },
    })
  }
  const secrets: Record<string, string> = {}
  for (const [name, reference] of Object.entries(endpoint.envRefs)) secrets[name] = await resolveSecret(reference)
  return createStdioTransport({
    ...{ command: endpoint.command, args: endpoint.args, cwd: endpoint.cwd, env: { ...endpoint.env, ...secrets } },
    ...{ timers, maxMessageBytes, graceMs: GRACE_MS },
    maxUnaskedBytes: 2 * maxMessageBytes,
    maxUnreadBytes: 8 * maxMessageBytes,
  })
}

async function listTools(client: Client, timeout: number): Promise<readonly McpTool[]> {
  const { tools } = await client.listTools(undefined, { timeout, cacheMode: 'bypass' })
  return tools
    .map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** Also bounds what the client does not: a handshake that is answered byte by byte. */
async function withinTime<T>(timers: Timers, timeoutMs: number, work: Promise<T>): Promise<T> {
  let cancel = () => {}
  const late = new Promise<never>((_, reject) => {
    cancel = timers.after(timeoutMs, () => reject(new Error(`the server has not answered within ${timeoutMs} ms`)))
  })
  work.catch(() => undefined)
  return Promise.race([work, late]).finally(() => cancel())
}

const TRUSTING: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
}

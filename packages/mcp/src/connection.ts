import { Client, type ClientOptions, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import type { McpEndpoint, McpTool, Timers } from '@perdure/ports'
import { createBoundedFetch, type Fetch } from './bounded-fetch.ts'
import { listTools } from './list-tools.ts'
import { parseHeaders } from './parse-headers.ts'
import { createStdioTransport } from './stdio-transport.ts'

export interface ConnectionDeps {
  readonly timers: Timers
  readonly fetch: Fetch
  /** @throws Error whose message contains the reference, never the secret */
  readonly resolveSecret: (reference: string) => Promise<string>
  readonly version: string
  readonly connectTimeoutMs: number
  readonly callTimeoutMs: number
  readonly maxResultBytes: number
}

/** An initialized connection to one server. */
export interface Connection {
  readonly client: Client
  /** Cached until the server announces a change. @throws Error if the list cannot be read */
  tools(): Promise<readonly McpTool[]>
  isOpen(): boolean
  close(): Promise<void>
}

/** Added to `maxResultBytes` for the JSON-RPC envelope around a result. */
const ENVELOPE_BYTES = 65_536
const GRACE_MS = 1_000

/** Connects and initializes. @throws Error on failure or timeout, after closing everything that was opened */
export async function openConnection(
  deps: ConnectionDeps,
  endpoint: McpEndpoint,
  onClose: (error: Error | undefined) => void,
): Promise<Connection> {
  const { connectTimeoutMs, version } = deps
  const transport = await createTransport(deps, endpoint)
  const client = new Client(
    { name: 'perdure', version },
    // Results are passed to the agent unvalidated, so that no schema of an untrusted server is compiled.
    { jsonSchemaValidator: ACCEPT_ALL },
  )
  let toolsPromise: Promise<readonly McpTool[]> | undefined
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
    toolsPromise = undefined
  })
  try {
    await withTimeout(deps.timers, connectTimeoutMs, client.connect(transport, { timeout: connectTimeoutMs }))
    isOpen = true
  } catch (error) {
    await transport.close().catch(() => undefined)
    throw lastError ?? error
  }

  return {
    client,
    tools() {
      toolsPromise ??= readTools(deps, client).catch((error: unknown) => {
        toolsPromise = undefined
        throw error
      })
      return toolsPromise
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
    maxUnsolicitedBytes: 2 * maxMessageBytes,
    maxUnreadBytes: 8 * maxMessageBytes,
  })
}

/** The pages of the list share the timeout of one call. */
async function readTools(
  { timers, callTimeoutMs }: Pick<ConnectionDeps, 'timers' | 'callTimeoutMs'>,
  client: Client,
): Promise<readonly McpTool[]> {
  const ending = new AbortController()
  const reading = listTools(client, { timeoutMs: callTimeoutMs, signal: ending.signal })
  return withTimeout(timers, callTimeoutMs, reading).finally(() => ending.abort())
}

/** Also limits a response that arrives byte by byte, which the SDK's own timeout does not. */
async function withTimeout<T>(timers: Timers, timeoutMs: number, work: Promise<T>): Promise<T> {
  let cancel = () => {}
  const late = new Promise<never>((_, reject) => {
    cancel = timers.after(timeoutMs, () => reject(new Error(`the server did not respond within ${timeoutMs} ms`)))
  })
  work.catch(() => undefined)
  return Promise.race([work, late]).finally(() => cancel())
}

const ACCEPT_ALL: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
}

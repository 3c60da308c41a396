import {
  type Clock,
  isRefusal,
  type Logger,
  type McpCall,
  type McpClient,
  type McpEndpoint,
  type McpOutcome,
  type McpStatus,
  perdureError,
} from '@perdure/ports'
import type { Connection, ConnectionDeps } from './connection.ts'

/** Loaded on first use: the MCP SDK is large, and many deployments never connect to an MCP server. */
const loadConnection = () => import('./connection.ts')
const loadCallOutcome = () => import('./call-outcome.ts')

export interface McpClientOptions extends ConnectionDeps {
  readonly clock: Clock
  readonly logger: Logger
}

/** Connection and backoff state of one MCP server. */
interface ServerState {
  readonly endpoint: string // as JSON; a changed endpoint means a new connection
  connecting?: Promise<Connection> | undefined
  connection?: Connection | undefined
  failures: number
  retryAtMs: number // monotonic
  pending: number
  timeoutsInARow: number
}

const MAX_PENDING = 32
const MAX_TIMEOUTS = 3
const FIRST_BACKOFF_MS = 1_000
const MAX_BACKOFF_MS = 60_000

/** Creates the MCP client for HTTP and stdio servers. */
export function createMcpClient(options: McpClientOptions): McpClient {
  const { clock, logger, callTimeoutMs, maxResultBytes } = options
  const servers = new Map<string, ServerState>()
  const closing = new Set<Promise<void>>()
  let isClosed = false

  const closeServer = (server: ServerState): Promise<void> => {
    const ending = Promise.resolve(server.connecting)
      .catch(() => undefined)
      .then(() => server.connection?.close())
      .finally(() => closing.delete(ending))
    closing.add(ending)
    return ending
  }

  const serverOf = (endpoint: McpEndpoint): ServerState => {
    const text = JSON.stringify(endpoint)
    const known = servers.get(endpoint.id)
    if (known?.endpoint === text) return known
    if (known !== undefined) void closeServer(known)
    const server: ServerState = { endpoint: text, failures: 0, retryAtMs: 0, pending: 0, timeoutsInARow: 0 }
    servers.set(endpoint.id, server)
    return server
  }

  const recordFailure = (server: ServerState, id: string, error: unknown) => {
    server.failures += 1
    const pauseMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (server.failures - 1))
    server.retryAtMs = clock.monotonicMs() + pauseMs
    logger.warn('MCP server failed', { server: id, reason: reasonOf(error), failures: server.failures, pauseMs })
  }

  const connect = async (server: ServerState, endpoint: McpEndpoint): Promise<Connection> => {
    try {
      const { openConnection } = await loadConnection()
      const connection = await openConnection(options, endpoint, (error) => {
        server.connection = undefined
        recordFailure(server, endpoint.id, error ?? new Error('the connection was lost'))
      })
      server.connection = connection
      server.timeoutsInARow = 0
      return connection
    } catch (error) {
      recordFailure(server, endpoint.id, error)
      throw unavailable(endpoint.id, error)
    } finally {
      server.connecting = undefined
    }
  }

  const connected = async (endpoint: McpEndpoint): Promise<{ server: ServerState; connection: Connection }> => {
    if (isClosed) throw perdureError('mcp-server-unavailable', { message: 'the server is shutting down' })
    const server = serverOf(endpoint)
    if (server.connection?.isOpen() === true) return { server, connection: server.connection }
    const waitMs = server.retryAtMs - clock.monotonicMs()
    if (server.connecting === undefined && waitMs > 0) {
      const message = `MCP server ${endpoint.id} failed ${server.failures} times in a row; retry after the backoff`
      throw perdureError('mcp-server-unavailable', { message, retryAfter: Math.ceil(waitMs) })
    }
    server.connecting ??= connect(server, endpoint)
    return { server, connection: await server.connecting }
  }

  /** Closes the connection after several timeouts in a row; a later call reconnects after the backoff. */
  const recordOutcome = (server: ServerState, endpoint: McpEndpoint, outcome: McpOutcome) => {
    const hasAnswered = outcome.ok || (outcome.error.kind !== 'timeout' && outcome.error.kind !== 'aborted')
    if (hasAnswered && server.connection !== undefined) server.failures = 0
    server.timeoutsInARow = !outcome.ok && outcome.error.kind === 'timeout' ? server.timeoutsInARow + 1 : 0
    if (server.timeoutsInARow < MAX_TIMEOUTS || server.connection === undefined) return
    void closeServer({ ...server, connecting: undefined })
    server.connection = undefined
    recordFailure(server, endpoint.id, new Error(`${MAX_TIMEOUTS} calls in a row timed out`))
  }

  const send = async (connection: Connection, call: McpCall): Promise<McpOutcome> => {
    const { tool, signal, timeoutMs = callTimeoutMs, traceparent } = call
    const timeout = Math.max(1, Math.min(timeoutMs, callTimeoutMs))
    const { failureOf, outcomeOf } = await loadCallOutcome()
    try {
      const meta = traceparent === undefined ? {} : { _meta: { traceparent } }
      const params = { name: tool, arguments: { ...call.arguments }, ...meta }
      const toolDefinition = { name: tool, inputSchema: { type: 'object' as const } }
      const limits = { timeout, maxTotalTimeout: timeout, ...(signal === undefined ? {} : { signal }) }
      return outcomeOf(await connection.client.callTool(params, { ...limits, toolDefinition }), maxResultBytes)
    } catch (error) {
      return failureOf(error, signal)
    }
  }

  const listTools = async (connection: Connection, id: string) => {
    try {
      return await connection.tools()
    } catch (error) {
      throw unavailable(id, error)
    }
  }

  return {
    async tools(endpoint) {
      const { connection } = await connected(endpoint)
      return listTools(connection, endpoint.id)
    },
    async call(endpoint, call) {
      const { server, connection } = await connected(endpoint)
      const tools = await listTools(connection, endpoint.id)
      if (!tools.some(({ name }) => name === call.tool)) throw perdureError('mcp-tool-not-found')
      if (server.pending >= MAX_PENDING) {
        const { failure } = await loadCallOutcome()
        return failure('rate_limited', `${MAX_PENDING} calls to this server are already in progress`)
      }
      server.pending += 1
      try {
        const outcome = await send(connection, call)
        recordOutcome(server, endpoint, outcome)
        return outcome
      } finally {
        server.pending -= 1
      }
    },
    status(id): McpStatus {
      const server = servers.get(id)
      if (server?.connection?.isOpen() === true) return 'connected'
      return (server?.failures ?? 0) > 0 ? 'failed' : 'disconnected'
    },
    async disconnect(id) {
      const server = servers.get(id)
      servers.delete(id)
      if (server !== undefined) await closeServer(server)
    },
    async close() {
      isClosed = true
      for (const server of servers.values()) void closeServer(server)
      servers.clear()
      await Promise.all(closing)
    },
  }
}

const unavailable = (id: string, cause: unknown) =>
  isRefusal(cause)
    ? cause
    : perdureError('mcp-server-unavailable', {
        message: `${id}: ${reasonOf(cause)}`,
        retryAfter: FIRST_BACKOFF_MS,
        cause,
      })

const MAX_REASON_LENGTH = 500

/** Shortens the error message: it may come from the server, and a schema error lists every mismatch. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error).slice(0, MAX_REASON_LENGTH)
  if (error.name === 'ZodError') return 'the response is not a valid MCP message'
  return error.message.slice(0, MAX_REASON_LENGTH)
}

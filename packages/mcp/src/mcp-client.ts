import {
  AppError,
  type Clock,
  type Logger,
  type McpCall,
  type McpClient,
  type McpEndpoint,
  type McpOutcome,
  type McpStatus,
} from '@perdure/ports'
import type { Connection, ConnectionDeps } from './connection.ts'

/** Loaded with the first connection: the protocol's library is large, and many servers use none. */
const connections = () => import('./connection.ts')
const outcomes = () => import('./call-outcome.ts')

export interface McpClientOptions extends ConnectionDeps {
  readonly clock: Clock
  readonly logger: Logger
}

/** What is known of one server. */
interface Slot {
  readonly endpoint: string // as JSON: another one is another server
  connecting?: Promise<Connection> | undefined
  connection?: Connection | undefined
  failures: number
  retryAtMs: number // monotonic
  pending: number
  unanswered: number // calls in a row that have timed out
}

const MAX_PENDING = 32
const MAX_UNANSWERED = 3
const FIRST_BACKOFF_MS = 1_000
const LONGEST_BACKOFF_MS = 60_000

/** MCP servers over HTTP and stdio. */
export function createMcpClient(options: McpClientOptions): McpClient {
  const { clock, logger, callTimeoutMs, maxResultBytes } = options
  const slots = new Map<string, Slot>()
  const endings = new Set<Promise<void>>()
  let isClosed = false

  const end = (slot: Slot): Promise<void> => {
    const ending = Promise.resolve(slot.connecting)
      .catch(() => undefined)
      .then(() => slot.connection?.close())
      .finally(() => endings.delete(ending))
    endings.add(ending)
    return ending
  }

  const slotOf = (endpoint: McpEndpoint): Slot => {
    const text = JSON.stringify(endpoint)
    const known = slots.get(endpoint.id)
    if (known?.endpoint === text) return known
    if (known !== undefined) void end(known)
    const slot: Slot = { endpoint: text, failures: 0, retryAtMs: 0, pending: 0, unanswered: 0 }
    slots.set(endpoint.id, slot)
    return slot
  }

  const failed = (slot: Slot, id: string, error: unknown) => {
    slot.failures += 1
    const pauseMs = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (slot.failures - 1))
    slot.retryAtMs = clock.monotonicMs() + pauseMs
    logger.warn('MCP server failed', { server: id, reason: reasonOf(error), failures: slot.failures, pauseMs })
  }

  const connect = async (slot: Slot, endpoint: McpEndpoint): Promise<Connection> => {
    try {
      const { openConnection } = await connections()
      const connection = await openConnection(options, endpoint, (error) => {
        slot.connection = undefined
        failed(slot, endpoint.id, error ?? new Error('the connection was lost'))
      })
      slot.connection = connection
      slot.unanswered = 0
      return connection
    } catch (error) {
      failed(slot, endpoint.id, error)
      throw unavailable(endpoint.id, error)
    } finally {
      slot.connecting = undefined
    }
  }

  const connected = async (endpoint: McpEndpoint): Promise<{ slot: Slot; connection: Connection }> => {
    if (isClosed) throw new AppError('mcp-server-unavailable', { message: 'the server is shutting down' })
    const slot = slotOf(endpoint)
    if (slot.connection?.isOpen() === true) return { slot, connection: slot.connection }
    const waitMs = slot.retryAtMs - clock.monotonicMs()
    if (slot.connecting === undefined && waitMs > 0) {
      const message = `${endpoint.id} has failed ${slot.failures} times and is left alone for a while`
      throw new AppError('mcp-server-unavailable', { message, retryAfterMs: Math.ceil(waitMs) })
    }
    slot.connecting ??= connect(slot, endpoint)
    return { slot, connection: await slot.connecting }
  }

  /** The server is ended when it has not answered several times: it is made anew at the next call. */
  const judge = (slot: Slot, endpoint: McpEndpoint, outcome: McpOutcome) => {
    const hasAnswered = outcome.ok || (outcome.error.kind !== 'timeout' && outcome.error.kind !== 'aborted')
    if (hasAnswered && slot.connection !== undefined) slot.failures = 0
    slot.unanswered = !outcome.ok && outcome.error.kind === 'timeout' ? slot.unanswered + 1 : 0
    if (slot.unanswered < MAX_UNANSWERED || slot.connection === undefined) return
    void end({ ...slot, connecting: undefined })
    slot.connection = undefined
    failed(slot, endpoint.id, new Error(`${MAX_UNANSWERED} calls in a row were not answered`))
  }

  const send = async (connection: Connection, call: McpCall): Promise<McpOutcome> => {
    const { tool, signal, timeoutMs = callTimeoutMs, traceparent } = call
    const timeout = Math.max(1, Math.min(timeoutMs, callTimeoutMs))
    const { failureOf, outcomeOf } = await outcomes()
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

  const listed = async (connection: Connection, id: string) => {
    try {
      return await connection.tools()
    } catch (error) {
      throw unavailable(id, error)
    }
  }

  return {
    async tools(endpoint) {
      const { connection } = await connected(endpoint)
      return listed(connection, endpoint.id)
    },
    async call(endpoint, call) {
      const { slot, connection } = await connected(endpoint)
      const tools = await listed(connection, endpoint.id)
      if (!tools.some(({ name }) => name === call.tool)) throw new AppError('mcp-tool-not-found')
      if (slot.pending >= MAX_PENDING) {
        const { failure } = await outcomes()
        return failure('rate_limited', `${MAX_PENDING} calls of this server are under way`)
      }
      slot.pending += 1
      try {
        const outcome = await send(connection, call)
        judge(slot, endpoint, outcome)
        return outcome
      } finally {
        slot.pending -= 1
      }
    },
    status(id): McpStatus {
      const slot = slots.get(id)
      if (slot?.connection?.isOpen() === true) return 'connected'
      return (slot?.failures ?? 0) > 0 ? 'failed' : 'disconnected'
    },
    async disconnect(id) {
      const slot = slots.get(id)
      slots.delete(id)
      if (slot !== undefined) await end(slot)
    },
    async close() {
      isClosed = true
      for (const slot of slots.values()) void end(slot)
      slots.clear()
      await Promise.all(endings)
    },
  }
}

const unavailable = (id: string, cause: unknown) =>
  cause instanceof AppError
    ? cause
    : new AppError('mcp-server-unavailable', {
        message: `${id}: ${reasonOf(cause)}`,
        retryAfterMs: FIRST_BACKOFF_MS,
        cause,
      })

const MOST_OF_REASON = 500

/** What failed, in a few words: the server may have chosen them, and a schema lists all that it missed. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error).slice(0, MOST_OF_REASON)
  if (error.name === 'ZodError') return 'the answer is not a message of MCP'
  return error.message.slice(0, MOST_OF_REASON)
}

import type { WebSocketConstructor, WebSocketLike } from './client-options.ts'
import { createMessageBudget, type MessageBudget, type MessageLimit } from './message-budget.ts'
import type { Pace } from './pace.ts'

/** The response to one request. Not delivered if the connection closes first. */
export type RpcAnswer =
  | { readonly result: Readonly<Record<string, unknown>> }
  | { readonly error: { readonly code: number; readonly message: string } }

export interface SocketClose {
  readonly code: number
  readonly reason: string
  /** Whether the upgrade had succeeded. A browser gives no reason for a failed upgrade. */
  readonly wasOpen: boolean
}

export interface SocketConnection {
  /** `onAnswer` is called before any frame that follows the response is delivered. */
  request(method: string, params: Readonly<Record<string, unknown>>, onAnswer: (answer: RpcAnswer) => void): void
  close(): void
}

export type PushedFrame = Readonly<Record<string, unknown>>

export interface SocketHandlers {
  /** Called once `initialize` has succeeded. */
  onReady(connection: SocketConnection): void
  onPush(frame: PushedFrame): void
  /** Called exactly once, as the last callback. */
  onClosed(closing: SocketClose): void
}

export interface SocketAddress {
  readonly WebSocket: WebSocketConstructor
  readonly pace: Pace
  readonly url: string
  readonly protocols: string[]
}

/** Timeout for the upgrade and `initialize` together. */
const OPEN_TIMEOUT_MS = 30_000
const DEFAULT_HEARTBEAT_MS = 25_000
const DEFAULT_LIMIT: MessageLimit = { maxMessages: 80, windowMs: 10_000 }
/** The code a browser reports if no close frame arrived. */
const ABNORMAL_CLOSURE = 1006

/** Opens and initializes a WebSocket. Closes the WebSocket when the server stops responding. */
export function openSocket({ WebSocket, pace, url, protocols }: SocketAddress, handlers: SocketHandlers): void {
  const socket = tryOpen(() => new WebSocket(url, protocols))
  if (typeof socket === 'string') {
    handlers.onClosed({ code: ABNORMAL_CLOSURE, reason: socket, wasOpen: false })
    return
  }
  const pending = new Map<number, (answer: RpcAnswer) => void>()
  let lastId = 0
  let state: 'opening' | 'open' | 'closed' = 'opening'
  let hasReceived = false
  let budget: MessageBudget = createMessageBudget(pace, DEFAULT_LIMIT)
  let cancelTimer = pace.after(OPEN_TIMEOUT_MS, () => end({ code: ABNORMAL_CLOSURE, reason: 'opening timed out' }))

  const end = ({ code, reason }: { readonly code: number; readonly reason: string }) => {
    if (state === 'closed') return
    const wasOpen = state === 'open'
    state = 'closed'
    cancelTimer()
    budget.close()
    pending.clear()
    socket.close()
    handlers.onClosed({ code, reason, wasOpen })
  }

  const connection: SocketConnection = {
    request(method, params, onAnswer) {
      if (state !== 'open') return
      lastId += 1
      pending.set(lastId, onAnswer)
      const message = JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params })
      budget.spend(() => socket.send(message))
    },
    close: () => end({ code: 1000, reason: 'closed by the client' }),
  }

  /** Pings the server after one silent interval and closes the connection after a second silent interval. */
  const watch = (heartbeatMs: number, hasPinged: boolean) => {
    cancelTimer = pace.after(heartbeatMs, () => {
      if (!hasReceived && hasPinged) return end({ code: ABNORMAL_CLOSURE, reason: 'the server stopped responding' })
      if (!hasReceived) connection.request('ping', {}, () => {})
      watch(heartbeatMs, !hasReceived)
      hasReceived = false
    })
  }

  const onInitialized = (answer: RpcAnswer) => {
    if ('error' in answer) return end({ code: ABNORMAL_CLOSURE, reason: answer.error.message })
    const { heartbeatMs, limits } = answer.result
    cancelTimer()
    budget.close()
    budget = createMessageBudget(pace, limitOf(limits))
    watch(typeof heartbeatMs === 'number' ? heartbeatMs : DEFAULT_HEARTBEAT_MS, false)
    handlers.onReady(connection)
  }

  socket.addEventListener('open', () => {
    if (state !== 'opening') return socket.close()
    state = 'open'
    connection.request('initialize', {}, onInitialized)
  })
  socket.addEventListener('message', ({ data }) => {
    if (state !== 'open') return
    hasReceived = true
    const frame = parseFrame(data)
    if (frame === undefined) return end({ code: ABNORMAL_CLOSURE, reason: 'received a frame that is not JSON' })
    const { id } = frame
    if (typeof id !== 'number') return handlers.onPush(frame)
    const onAnswer = pending.get(id)
    pending.delete(id)
    onAnswer?.(frame as unknown as RpcAnswer)
  })
  socket.addEventListener('error', () => {}) // a close event always follows
  socket.addEventListener('close', ({ code, reason }) => end({ code, reason }))
}

/**
 * Fraction of the server's message limit to use. The margin is needed because both sides count over different windows.
 */
const SAFE_SHARE = 0.8

function limitOf(limits: unknown): MessageLimit {
  const { maxMessages, messageWindowMs } = (limits ?? {}) as Readonly<Record<string, unknown>>
  if (typeof maxMessages !== 'number' || typeof messageWindowMs !== 'number') return DEFAULT_LIMIT
  return { maxMessages: Math.max(1, Math.floor(maxMessages * SAFE_SHARE)), windowMs: messageWindowMs }
}

/** Returns the error text if the constructor throws, as it does for a `ws:` URL in an https page. */
function tryOpen(open: () => WebSocketLike): WebSocketLike | string {
  try {
    return open()
  } catch (error) {
    return String(error)
  }
}

function parseFrame(data: unknown): PushedFrame | undefined {
  try {
    const frame: unknown = JSON.parse(String(data))
    return typeof frame === 'object' && frame !== null ? (frame as PushedFrame) : undefined
  } catch {
    return undefined
  }
}

import type { WebSocketConstructor, WebSocketLike } from './client-options.ts'
import { createMessageBudget, type MessageBudget, type MessageLimit } from './message-budget.ts'
import type { Pace } from './pace.ts'

/** The answer to one request: never called when the connection closes before. */
export type RpcAnswer =
  | { readonly result: Readonly<Record<string, unknown>> }
  | { readonly error: { readonly code: number; readonly message: string } }

export interface Closing {
  readonly code: number
  readonly reason: string
  /** Whether the upgrade had succeeded: a browser tells nothing about one that did not. */
  readonly wasOpen: boolean
}

export interface SocketConnection {
  /** Calls `onAnswer` before any frame that follows the answer is handed on. */
  request(method: string, params: Readonly<Record<string, unknown>>, onAnswer: (answer: RpcAnswer) => void): void
  close(): void
}

export type PushedFrame = Readonly<Record<string, unknown>>

export interface SocketHandlers {
  /** After `initialize`. */
  onReady(connection: SocketConnection): void
  onPush(frame: PushedFrame): void
  /** Once, last. */
  onClosed(closing: Closing): void
}

export interface SocketAddress {
  readonly WebSocket: WebSocketConstructor
  readonly pace: Pace
  readonly url: string
  readonly protocols: string[]
}

/** How long the upgrade and `initialize` may take together. */
const OPENING_MS = 30_000
const DEFAULT_HEARTBEAT_MS = 25_000
const DEFAULT_LIMIT: MessageLimit = { maxMessages: 80, windowMs: 10_000 }
/** What a browser reports when no close frame arrived. */
const ABNORMAL_CLOSURE = 1006

/** Opens a connection, begins it, and gives it up when the server no longer answers. */
export function openSocket({ WebSocket, pace, url, protocols }: SocketAddress, handlers: SocketHandlers): void {
  const socket = construct(() => new WebSocket(url, protocols))
  if (typeof socket === 'string') {
    handlers.onClosed({ code: ABNORMAL_CLOSURE, reason: socket, wasOpen: false })
    return
  }
  const pending = new Map<number, (answer: RpcAnswer) => void>()
  let lastId = 0
  let state: 'opening' | 'open' | 'closed' = 'opening'
  let hasHeard = false
  let budget: MessageBudget = createMessageBudget(pace, DEFAULT_LIMIT)
  let cancelTimer = pace.after(OPENING_MS, () => end({ code: ABNORMAL_CLOSURE, reason: 'not opened in time' }))

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

  /** One silent interval is asked about, a second one ends the connection. */
  const watch = (heartbeatMs: number, isAsked: boolean) => {
    cancelTimer = pace.after(heartbeatMs, () => {
      if (!hasHeard && isAsked) return end({ code: ABNORMAL_CLOSURE, reason: 'the server no longer answers' })
      if (!hasHeard) connection.request('ping', {}, () => {})
      watch(heartbeatMs, !hasHeard)
      hasHeard = false
    })
  }

  const begin = (answer: RpcAnswer) => {
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
    connection.request('initialize', {}, begin)
  })
  socket.addEventListener('message', ({ data }) => {
    if (state !== 'open') return
    hasHeard = true
    const frame = parseFrame(data)
    if (frame === undefined) return end({ code: ABNORMAL_CLOSURE, reason: 'a frame that is not JSON' })
    const { id } = frame
    if (typeof id !== 'number') return handlers.onPush(frame)
    const onAnswer = pending.get(id)
    pending.delete(id)
    onAnswer?.(frame as unknown as RpcAnswer)
  })
  socket.addEventListener('error', () => {}) // the close event follows and says the same
  socket.addEventListener('close', ({ code, reason }) => end({ code, reason }))
}

/** A part of what the server allows: its window and this one are not the same. */
const SAFE_SHARE = 0.8

function limitOf(limits: unknown): MessageLimit {
  const { maxMessages, messageWindowMs } = (limits ?? {}) as Readonly<Record<string, unknown>>
  if (typeof maxMessages !== 'number' || typeof messageWindowMs !== 'number') return DEFAULT_LIMIT
  return { maxMessages: Math.max(1, Math.floor(maxMessages * SAFE_SHARE)), windowMs: messageWindowMs }
}

/** A page may not even try, for example from https to ws: then the reason. */
function construct(open: () => WebSocketLike): WebSocketLike | string {
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

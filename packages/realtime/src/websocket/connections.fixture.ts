import {
  createAuthorizeSubject,
  createEventFeed,
  createEventHub,
  createHotCache,
  createRenderEnvelope,
  type HotCacheLimits,
  type Principal,
  publishing,
} from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import { type EventLog, type Logger, noMeter, perdureError, type Storage } from '@perdure/ports'
import { createManualClock, type ManualClock } from '@perdure/testkit'
import type { Connection, OnWritten, Socket, Wire } from './connection.ts'
import { type Connections, createConnections } from './connections.ts'
import type { MethodDeps } from './methods.ts'
import type { RecordedCallsDeps } from './recorded-calls.ts'
import type { WebSocketLimits } from './web-socket-limits.ts'

const ignore = () => undefined
const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

export const LIMITS: WebSocketLimits = {
  ...{ maxConnections: 10, maxConnectionsPerToken: 5, maxSubscriptions: 3, maxFrameBytes: 65_536, maxMessages: 100 },
  ...{ heartbeatMs: 25_000, maxUnsentBytes: 2 ** 20, maxUnsentBurstBytes: 2 ** 23 },
}
const CACHE: HotCacheLimits = { maxEvents: 1_000, ttlMs: 300_000, maxSubjectBytes: 2 ** 21, maxBytes: 2 ** 26 }

/** A loosely typed frame. */
export interface Frame {
  readonly id?: number | string | null
  readonly kind?: string
  readonly code?: string
  readonly subscriptionId?: string
  readonly eventId?: string
  readonly type?: string
  readonly data?: { readonly firstAvailable: string | null; readonly lastEventId: string }
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number }
}

/** The client's end of a connection, which reads only on demand. */
export interface FakeSocket extends Socket, Wire {
  unsentBytes(): number
  readonly frames: readonly Frame[]
  readonly pings: number
  readonly closed: { readonly code: number; readonly reason: string } | undefined
  readonly isTerminated: boolean
  /** Puts the client into the closing state. */
  startClosing(): void
  /** Reads at most this many of the frames that the server has sent. */
  take(frames?: number): void
  /** Reads everything immediately from now on. */
  keepTaking(): void
}

export function createFakeSocket(): FakeSocket {
  const frames: Frame[] = []
  const sent: { readonly text: string; readonly onWritten?: OnWritten | undefined }[] = []
  let unsent = 0
  let isTaking = false
  let pings = 0
  let isClosing = false
  let isTerminated = false
  let closed: { code: number; reason: string } | undefined

  const take = (count: number) => {
    for (const { text, onWritten } of sent.splice(0, count)) {
      frames.push(JSON.parse(text) as Frame)
      unsent -= text.length
      onWritten?.()
    }
  }

  /** Like Node, calls `onWritten` once all messages of the write have been flushed. */
  const accept = (messages: readonly string[], onWritten?: OnWritten) => {
    for (const [index, text] of messages.entries()) {
      unsent += text.length
      sent.push({ text, onWritten: index === messages.length - 1 ? onWritten : undefined })
    }
    if (isTaking) queueMicrotask(() => take(sent.length))
  }

  return {
    frames,
    OPEN: 1,
    get readyState() {
      return isClosing ? 2 : 1
    },
    unsentBytes: () => unsent,
    get bufferedAmount() {
      return unsent
    },
    get pings() {
      return pings
    },
    get closed() {
      return closed
    },
    get isTerminated() {
      return isTerminated
    },
    send: (data, onWritten) => accept(typeof data === 'string' ? [data] : messagesOf(data), onWritten),
    write(frames, onWritten) {
      if (isClosing) throw new Error('nothing may follow a close frame')
      accept(messagesOf(frames), onWritten)
    },
    startClosing() {
      isClosing = true
    },
    close(code, reason) {
      closed ??= { code, reason }
    },
    ping() {
      pings++
    },
    terminate() {
      isTerminated = true
    },
    take: (count = Number.POSITIVE_INFINITY) => take(count),
    keepTaking() {
      isTaking = true
      take(sent.length)
    },
  }
}

/** Decodes unmasked text messages, each of which is a single frame. @see RFC 6455, section 5.2 */
export function messagesOf(bytes: Uint8Array): readonly string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const messages: string[] = []
  let at = 0
  while (at < bytes.byteLength) {
    if (view.getUint8(at) !== 0x81) throw new Error(`byte ${at} begins no text message`)
    const short = view.getUint8(at + 1)
    const length = short < 126 ? short : short === 126 ? view.getUint16(at + 2) : Number(view.getBigUint64(at + 2))
    const start = at + 2 + (short < 126 ? 0 : short === 126 ? 2 : 8)
    const payload = bytes.subarray(start, start + length)
    if (payload.byteLength < length) throw new Error('the last frame is cut off')
    messages.push(new TextDecoder('utf-8', { fatal: true }).decode(payload))
    at = start + length
  }
  return messages
}

export interface WorldOptions {
  readonly epoch?: string
  readonly clock?: ManualClock
  readonly cache?: Partial<HotCacheLimits>
  readonly limits?: Partial<WebSocketLimits>
  /** The event log used by the connections. */
  readonly eventsOf?: (storage: Storage) => EventLog
  readonly abortRun?: MethodDeps['abortRun']
  readonly audit?: Pick<RecordedCallsDeps, 'admit' | 'onAnswer'>
}

export const ANYONE: Principal = { subject: 'alice', scopes: ['admin:*'] }

/** Connections over in-memory storage, without a network. */
export function createWorld(options: WorldOptions = {}) {
  const storage = createInMemoryStorage({ epoch: options.epoch ?? 'e1' })
  const clock = options.clock ?? createManualClock()
  const events = options.eventsOf?.(storage) ?? storage.events
  const hub = createEventHub(createHotCache(clock, { ...CACHE, ...options.cache }))
  const unitOfWork = publishing(storage.unitOfWork, { hub })
  let rendered = 0
  const render = createRenderEnvelope({ meter: noMeter, policy: 'redact' })
  const feed = createEventFeed({
    ...{ events, hub },
    render(event, view) {
      rendered++
      return render(event, view)
    },
  })
  const limits = { ...LIMITS, ...options.limits }
  let ids = 0
  const connections = createConnections({
    ...{ feed, events, clock, limits, timers: clock, logger: silentLogger, stallMs: 10_000 },
    ...{ runs: storage.runs, version: '0.0.0', basePath: '/v1', ...options.audit },
    authorizeSubject: createAuthorizeSubject(storage),
    abortRun: options.abortRun ?? (() => Promise.reject(perdureError('run-not-found'))),
    renewCredential: () => Promise.reject(perdureError('auth-invalid')),
  })

  const connect = (principal: Principal = ANYONE) => {
    const socket = createFakeSocket()
    const connection = connections.open({
      ...{ connectionId: `con_${++ids}`, principal, socket, wire: socket },
      ...{ requestId: 'req-1', clientAddress: '192.0.2.1' },
    })
    return { socket, record: connection, connection: handle(connections, connection) }
  }

  return { ...{ storage, clock, hub, unitOfWork, connect }, rendered: () => rendered }
}

/** One connection with bound handlers. */
const handle = (connections: Connections, connection: Connection) => ({
  receive: (data: string) => connections.receive(connection, data),
  receiveBinary: () => connections.receiveBinary(connection),
  pong: () => connections.pong(connection),
  beat: () => connections.beat(connection),
  closed: () => connections.closed(connection),
})

type Handle = ReturnType<typeof handle>

/** Runs all pending microtasks. */
export const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

let lastId = 0
/** Sends a request and returns its id. */
export function request(connection: Handle, method: string, params?: object): number {
  const id = ++lastId
  connection.receive(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
  return id
}

/** An initialized client that reads everything immediately. */
export async function connected(world: ReturnType<typeof createWorld>, principal?: Principal) {
  const { connection, socket, record } = world.connect(principal)
  socket.keepTaking()
  const call = async (method: string, params?: object) => {
    const id = request(connection, method, params)
    await settled()
    return socket.frames.find((frame) => frame.id === id) as Frame
  }
  await call('initialize', {})
  return { connection, socket, record, call }
}

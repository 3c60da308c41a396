import { once } from 'node:events'

/** A received frame, loosely typed. */
export interface Frame {
  readonly id?: number
  readonly kind?: string
  readonly code?: string
  readonly subscriptionId?: string
  readonly subject?: string
  readonly eventId?: string
  readonly type?: string
  readonly payload?: unknown
  readonly data?: unknown
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly message: string }
}

export interface SocketClient {
  readonly socket: WebSocket
  /** All received frames, in order. */
  readonly frames: readonly Frame[]
  /** The raw text of the received event frames. */
  readonly texts: readonly string[]
  /** Sends a request and resolves to its answer. */
  call(method: string, params?: object): Promise<Frame>
  initialize(): Promise<Frame>
  subscribe(subject: string, lastEventId?: string): Promise<Frame>
  /** Resolves once a frame matches. */
  until(matches: (frame: Frame) => boolean): Promise<Frame>
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
}

export interface ConnectOptions {
  readonly ticket?: string
  readonly protocols?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
}

/** Opens a WebSocket to the server at `url`. */
export async function connect(url: string, { ticket, protocols, headers }: ConnectOptions = {}): Promise<SocketClient> {
  const offered = protocols ?? ['svc.protocol.v1', ...(ticket === undefined ? [] : [`ticket.${ticket}`])]
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`, { protocols: [...offered], headers } as never)
  const frames: Frame[] = []
  const texts: string[] = []
  const waiting = new Set<() => void>()
  let lastId = 0

  socket.addEventListener('message', ({ data: received }) => {
    const data = String(received)
    const frame = JSON.parse(data) as Frame
    frames.push(frame)
    if (frame.kind === 'event') texts.push(data)
    for (const look of [...waiting]) look()
  })
  const closed = once(socket, 'close').then(([event]) => {
    const { code, reason } = event as { readonly code: number; readonly reason: string }
    for (const look of [...waiting]) look()
    return { code, reason }
  })

  const until = (matches: (frame: Frame) => boolean) =>
    new Promise<Frame>((resolve, reject) => {
      const look = () => {
        const found = frames.find(matches)
        if (found !== undefined) resolve(found)
        else if (socket.readyState === WebSocket.CLOSED) reject(new Error(`closed; received ${JSON.stringify(frames)}`))
        else return
        waiting.delete(look)
      }
      waiting.add(look)
      look()
    })

  const call = (method: string, params?: object) => {
    const id = ++lastId
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return until((frame) => frame.id === id)
  }

  await once(socket, 'open')
  return {
    ...{ socket, frames, texts, until, call, closed },
    initialize: () => call('initialize', {}),
    subscribe: (subject, lastEventId) => call('subscription.subscribe', { subject, lastEventId }),
  }
}

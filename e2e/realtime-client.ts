import { bearer } from './perdure-process.ts'

/** An event or a gap that a subscriber received. */
export type Received =
  | { readonly kind: 'event'; readonly eventId: string; readonly type: string; readonly payload: Payload }
  | { readonly kind: 'gap' }

interface Payload {
  readonly n?: number
  readonly delta?: string
}

export interface Follower {
  readonly received: readonly Received[]
  /** Number of connections opened. */
  readonly connections: () => number
  lastEventId(): string | undefined
  /** Resolves when the first subscription is established. */
  readonly following: Promise<void>
  stop(): Promise<void>
}

export interface FollowOptions {
  /** The current address of the server, possibly through a proxy. */
  readonly url: () => string
  readonly token: string
  readonly subject: string
  /** Path of the event stream (SSE) of the subject. */
  readonly path: string
  /** The event to resume after; default: new events only. */
  readonly lastEventId?: string
}

type Connect = (state: State) => Promise<void>

interface State {
  readonly options: FollowOptions
  readonly signal: AbortSignal
  readonly onOpen: () => void
  lastEventId: string | undefined
  take(received: Received): void
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Follows a subject over one transport and reconnects with its cursor whenever the connection is lost. */
function follow(connect: Connect, options: FollowOptions): Follower {
  const stopping = new AbortController()
  const following = Promise.withResolvers<void>()
  const received: Received[] = []
  let connections = 0
  const state: State = {
    ...{ options, signal: stopping.signal, lastEventId: options.lastEventId },
    onOpen() {
      connections++
      following.resolve()
    },
    take(one) {
      received.push(one)
      if (one.kind === 'event') state.lastEventId = one.eventId
    },
  }
  const ended = (async () => {
    while (!stopping.signal.aborted) {
      await connect(state).catch(() => undefined)
      await pause(20)
    }
  })()
  return {
    ...{ received, following: following.promise, connections: () => connections },
    lastEventId: () => state.lastEventId,
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

async function connectSse(state: State): Promise<void> {
  const { url, token, path } = state.options
  const headers = {
    ...{ authorization: bearer(token).authorization, accept: 'text/event-stream' },
    ...(state.lastEventId === undefined ? {} : { 'last-event-id': state.lastEventId }),
  }
  const response = await fetch(url() + path, { headers, signal: state.signal })
  if (response.status !== 200 || response.body === null) return
  let rest = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + chunk).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) takeBlock(state, block)
  }
}

function takeBlock(state: State, block: string): void {
  const fieldOf = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1]
  const [id, type, data] = [fieldOf('id'), fieldOf('event'), fieldOf('data')]
  if (type === undefined) {
    if (id === undefined) return
    state.lastEventId = id
    state.onOpen()
  } else if (type === 'replay-gap') {
    state.take({ kind: 'gap' })
    if (id !== undefined) state.lastEventId = id
  } else {
    state.take({ kind: 'event', eventId: id ?? '', type, payload: JSON.parse(data ?? '{}').payload })
  }
}

async function connectWebSocket(state: State): Promise<void> {
  const { url, token, subject } = state.options
  const asked = await fetch(`${url()}/session/ws-ticket`, {
    ...{ method: 'POST', headers: bearer(token), body: '{}', signal: state.signal },
  })
  const { ticket } = (await asked.json()) as { readonly ticket: string }
  const socket = new WebSocket(`${url().replace('http', 'ws')}/ws`, ['svc.protocol.v1', `ticket.${ticket}`])
  const closed = new Promise<void>((resolve) => {
    socket.onclose = () => resolve()
    socket.onerror = () => resolve()
  })
  const send = (id: number, method: string, params: object) =>
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
  state.signal.addEventListener('abort', () => socket.close())
  socket.onopen = () => {
    send(1, 'initialize', {})
    send(2, 'subscription.subscribe', { subject, lastEventId: state.lastEventId })
  }
  socket.onmessage = ({ data }) => {
    const frame = JSON.parse(String(data))
    if (frame.id === 2 && frame.result !== undefined) {
      // Keep the starting position, so that no event is lost if the connection drops before its first event.
      state.lastEventId ??= frame.result.replayedCount === 0 ? frame.result.headEventId : undefined
      state.onOpen()
    } else if (frame.kind === 'event') state.take({ ...frame, kind: 'event' })
    else if (frame.code === 'replay-gap') state.take({ kind: 'gap' })
  }
  await closed
}

export const followBySse = (options: FollowOptions): Follower => follow(connectSse, options)
export const followByWebSocket = (options: FollowOptions): Follower => follow(connectWebSocket, options)

export const idsOf = ({ received }: Follower): readonly string[] =>
  received.flatMap((one) => (one.kind === 'event' ? [one.eventId] : []))

export const gapsOf = ({ received }: Follower): number => received.filter(({ kind }) => kind === 'gap').length

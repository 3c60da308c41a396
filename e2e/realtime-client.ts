import { bearer } from './perdure-process.ts'

/** One thing that a subscriber was told. */
export type Told =
  | { readonly kind: 'event'; readonly eventId: string; readonly type: string; readonly payload: Payload }
  | { readonly kind: 'gap' }

interface Payload {
  readonly n?: number
  readonly delta?: string
}

export interface Follower {
  readonly told: readonly Told[]
  /** Connections that were opened. */
  readonly connections: () => number
  lastEventId(): string | undefined
  /** Resolves when it follows for the first time. */
  readonly following: Promise<void>
  stop(): Promise<void>
}

export interface FollowOptions {
  /** Where the server is now, through whatever stands in between. */
  readonly url: () => string
  readonly token: string
  readonly subject: string
  /** Of the stream of Server-Sent Events for the subject. */
  readonly path: string
  /** Where to read on; at the head without it. */
  readonly lastEventId?: string
}

type Connect = (state: State) => Promise<void>

interface State {
  readonly options: FollowOptions
  readonly signal: AbortSignal
  readonly onOpen: () => void
  lastEventId: string | undefined
  take(told: Told): void
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Follows a subject over one transport, and comes back with its cursor whenever the connection is lost. */
function follow(connect: Connect, options: FollowOptions): Follower {
  const stopping = new AbortController()
  const following = Promise.withResolvers<void>()
  const told: Told[] = []
  let connections = 0
  const state: State = {
    ...{ options, signal: stopping.signal, lastEventId: options.lastEventId },
    onOpen() {
      connections++
      following.resolve()
    },
    take(one) {
      told.push(one)
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
    ...{ told, following: following.promise, connections: () => connections },
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
      // Where it was told to begin, so that a connection that dies before its first event loses nothing.
      state.lastEventId ??= frame.result.replayedCount === 0 ? frame.result.headEventId : undefined
      state.onOpen()
    } else if (frame.kind === 'event') state.take({ ...frame, kind: 'event' })
    else if (frame.code === 'replay-gap') state.take({ kind: 'gap' })
  }
  await closed
}

export const followBySse = (options: FollowOptions): Follower => follow(connectSse, options)
export const followByWebSocket = (options: FollowOptions): Follower => follow(connectWebSocket, options)

export const idsOf = ({ told }: Follower): readonly string[] =>
  told.flatMap((one) => (one.kind === 'event' ? [one.eventId] : []))

export const gapsOf = ({ told }: Follower): number => told.filter(({ kind }) => kind === 'gap').length

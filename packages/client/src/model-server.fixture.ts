import type { WebSocketConstructor, WebSocketLike } from './client-options.ts'
import type { Event } from './subscription.ts'

type Listener = (event: never) => void
type Request = { readonly id: number; readonly method: string; readonly params: Readonly<Record<string, string>> }

interface Reader {
  readonly subject: string
  position: number
  push(event: Event): void
}

/**
 * A model of the server: one event log, served over both transports. Simulates lost connections, restarts and
 * retention.
 */
export interface ModelServer {
  readonly fetch: typeof globalThis.fetch
  readonly WebSocket: WebSocketConstructor
  /** Appends an event. */
  publish(subject: string, type?: string): Event
  /** Deletes the oldest events. */
  trim(count: number): void
  /** Starts a new log. */
  renew(): void
  /** Drops every connection without a close frame. */
  cut(): void
  /** Closes every WebSocket. */
  closeAll(code: number, reason?: string): void
  /** Stops responding on every connection, without closing the connections. */
  fallSilent(): void
  /** Rejects this number of WebSocket upgrades. */
  refuse(upgrades: number): void
  /** Closes the next WebSockets with these codes as soon as they open. */
  greetWith(...codes: number[]): void
  /** Rejects the next subscribe requests with these error codes. */
  refuseSubscriptions(...codes: number[]): void
  /** Performs the next starts of a run, but drops their answers. */
  loseAnswers(count: number): void
  /** `method params` of every message received. */
  readonly messages: string[]
  /** Subprotocols of every upgrade. */
  readonly upgrades: string[][]
  /** Paths of every HTTP request. */
  readonly requests: string[]
  openSockets(): number
}

export function createModelServer({ maxMessages = 1_000 }: { readonly maxMessages?: number } = {}): ModelServer {
  let epoch = 1
  let log: Event[] = []
  let position = 0
  let trimmedThrough = 0
  let refusals = 0
  let isSilent = false
  const greetings: number[] = []
  const subscriptionErrors: number[] = []
  const readers = new Set<Reader>()
  const cuts = new Set<() => void>()
  const sockets = new Set<(code: number, reason: string) => void>()
  const [messages, upgrades, requests]: [string[], string[][], string[]] = [[], [], []]

  const idOf = (at: number) => `e${epoch}.${at}`
  const positionOf = ({ eventId }: Pick<Event, 'eventId'>) => Number(eventId.replace(/.*\./, ''))
  const eventsOf = (subject: string, after: number) =>
    log.filter((event) => event.subject === subject && positionOf(event) > after)

  /** The position at which a cursor resumes, and the gap, if any. */
  const start = (subject: string, lastEventId: string | null | undefined) => {
    const isOfRun = subject.includes('/runs/')
    if (!lastEventId) return { after: isOfRun ? 0 : position, gap: undefined }
    const [cursorEpoch, cursor] = [lastEventId.replace(/\..*/, ''), Number(lastEventId.replace(/.*\./, ''))]
    if (cursorEpoch === `e${epoch}` && cursor >= trimmedThrough && cursor <= position)
      return { after: cursor, gap: undefined }
    const after = cursorEpoch === `e${epoch}` && cursor <= position ? cursor : 0
    return { after, gap: { firstAvailable: eventsOf(subject, after)[0]?.eventId ?? null, lastEventId } }
  }

  const follow = (reader: Reader) => {
    readers.add(reader)
    for (const event of eventsOf(reader.subject, reader.position)) reader.push(event)
    return () => readers.delete(reader)
  }

  function ModelSocket(this: unknown, url: string, protocols: string[]): WebSocketLike {
    upgrades.push(protocols)
    const listeners: Record<string, Listener[]> = {}
    const subscriptions = new Map<string, () => void>()
    let state: 'opening' | 'open' | 'closed' = 'opening'
    const isMute = false
    const emit = (type: string, event: object) => {
      for (const listener of listeners[type] ?? []) listener(event as never)
    }
    const end = (code: number, reason: string) => {
      if (state === 'closed') return
      state = 'closed'
      sockets.delete(end)
      cuts.delete(cut)
      for (const stop of subscriptions.values()) stop()
      queueMicrotask(() => emit('close', { code, reason }))
    }
    const cut = () => end(1006, '')
    const send = (frame: object) => {
      const data = JSON.stringify(frame)
      setImmediate(() => {
        if (state === 'open' && !isMute && !isSilent) emit('message', { data })
      })
    }
    const subscribe = ({ id, params }: Request) => {
      const code = subscriptionErrors.shift()
      if (code !== undefined) return send({ jsonrpc: '2.0', id, error: { code, message: 'refused' } })
      const { subject = '', lastEventId } = params
      const { after, gap } = start(subject, lastEventId)
      const subscriptionId = `sub_${id}`
      send({ jsonrpc: '2.0', id, result: { subscriptionId, subject, headEventId: idOf(position) } })
      if (gap) send({ kind: 'error', code: 'replay-gap', message: '', subject, subscriptionId, data: gap })
      const push = (event: Event) => send({ v: '1', kind: 'event', subscriptionId, ...event })
      subscriptions.set(subscriptionId, follow({ subject, position: after, push }))
    }
    const answer = (request: Request) => {
      const { id, method, params } = request
      if (isMute || isSilent) return
      if (method === 'subscription.subscribe') return subscribe(request)
      if (method === 'subscription.unsubscribe') {
        subscriptions.get(params.subscriptionId ?? '')?.()
        subscriptions.delete(params.subscriptionId ?? '')
      }
      const limits = { maxMessages, messageWindowMs: 10_000 }
      send({ jsonrpc: '2.0', id, result: method === 'initialize' ? { heartbeatMs: 25_000, limits } : {} })
    }
    setImmediate(() => {
      if (state === 'closed') return
      if (refusals-- > 0 || !url.endsWith('/v1/ws')) return end(1006, '')
      refusals = 0
      state = 'open'
      sockets.add(end)
      cuts.add(cut)
      emit('open', {})
      const greeting = greetings.shift()
      if (greeting !== undefined) end(greeting, '')
    })
    return {
      addEventListener: (type: string, listener: Listener) => {
        listeners[type] = [...(listeners[type] ?? []), listener]
      },
      send(data) {
        const request: Request = JSON.parse(data)
        messages.push(`${request.method} ${JSON.stringify(request.params)}`)
        setImmediate(() => state === 'open' && answer(request))
      },
      close: () => end(1000, ''),
    }
  }

  const subjects = new Map<string, string>()
  const runs = new Map<string, string>()
  let lostAnswers = 0

  /** Starts a run of the agent; the same key starts no second one. */
  const startRun = (agentId: string, key: string) => {
    const runId = runs.get(key) ?? `run_${runs.size + 1}`
    runs.set(key, runId)
    const subject = `agent:${agentId}/runs/${runId}/events`
    subjects.set(runId, subject)
    if (lostAnswers-- > 0) throw new TypeError('terminated')
    return Response.json({ runId, status: 'queued', subject }, { status: 202 })
  }

  const findRun = (runId: string) => {
    const agentId = /^agent:([^/]+)/.exec(subjects.get(runId) ?? '')?.[1]
    if (agentId === undefined) return Response.json({ error: 'run-not-found', message: 'none' }, { status: 404 })
    return Response.json({ id: runId, kind: 'agent', agentId })
  }

  const openStream = (
    subject: string,
    lastEventId: string | null,
    signal: AbortSignal | null | undefined,
  ): Response => {
    const encoder = new TextEncoder()
    const { after, gap } = start(subject, lastEventId)
    let stop: () => void = () => {}
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        const write = (block: string) => {
          // Sends each block in two chunks, so that it arrives split.
          if (isSilent) return
          controller.enqueue(encoder.encode(block.slice(0, 7)))
          controller.enqueue(encoder.encode(block.slice(7)))
        }
        const end = (error: unknown) => {
          stop()
          cuts.delete(cut)
          controller.error(error)
        }
        const cut = () => end(new TypeError('terminated'))
        cuts.add(cut)
        signal?.addEventListener('abort', () => cuts.has(cut) && end(signal.reason))
        write(`retry: 1000\nid: ${gap ? lastEventId : idOf(after)}\ndata:\n\n`)
        if (gap) write(`event: replay-gap\ndata: ${JSON.stringify({ payload: gap })}\n\n`)
        const push = (event: Event) =>
          write(`id: ${event.eventId}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
        stop = follow({ subject, position: after, push })
      },
      cancel: () => stop(),
    })
    return new Response(stream, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })
  }

  const fetch: typeof globalThis.fetch = async (input, init = {}) => {
    const path = new URL(String(input)).pathname.replace('/v1', '')
    requests.push(path)
    if (path === '/session/ws-ticket') return Response.json({ ticket: `t${requests.length}` }, { status: 201 })
    init.signal?.throwIfAborted()
    const [, group, id = '', action] = path.split('/')
    if (action === 'stream') return startRun(id, new Headers(init.headers).get('idempotency-key') ?? '')
    if (group === 'runs' && action === undefined) return findRun(id)
    const subject = subjects.get(id) ?? `session:${id}/events`
    const headers = new Headers(init.headers)
    if (headers.get('accept') === 'text/event-stream')
      return openStream(subject, headers.get('last-event-id'), init.signal)
    return Response.json({ items: log.filter((event) => event.subject === subject).slice(-1), nextCursor: null })
  }

  return {
    fetch,
    WebSocket: ModelSocket as unknown as WebSocketConstructor,
    publish(subject, type = 'text.delta') {
      const runId = /\/runs\/([^/]+)\//.exec(subject)?.[1]
      if (runId !== undefined) subjects.set(runId, subject)
      position += 1
      const event = { eventId: idOf(position), subject, type, payload: { n: position }, at: '2026-01-01T00:00:00.000Z' }
      log.push(event)
      for (const reader of readers) if (reader.subject === subject) reader.push(event)
      return event
    },
    trim(count) {
      const gone = log.splice(0, count).at(-1)
      if (gone !== undefined) trimmedThrough = positionOf(gone)
    },
    renew() {
      epoch += 1
      log = []
      position = 0
      trimmedThrough = 0
      for (const cut of [...cuts]) cut()
    },
    cut: () => {
      for (const cut of [...cuts]) cut()
    },
    closeAll: (code, reason = '') => {
      for (const close of [...sockets]) close(code, reason)
    },
    fallSilent() {
      isSilent = true
    },
    refuse(count) {
      refusals = count
      isSilent = false
    },
    loseAnswers(count) {
      lostAnswers = count
    },
    greetWith: (...codes) => void greetings.push(...codes),
    refuseSubscriptions: (...codes) => void subscriptionErrors.push(...codes),
    messages,
    upgrades,
    requests,
    openSockets: () => sockets.size,
  }
}

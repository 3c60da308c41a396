import type { YieldTurn } from '@perdure/ports'
import { formatSocketAnswer, parseSocketRequest, type SocketAnswer, type SocketRequest } from './socket-frames.ts'
import { blocksIn } from './sse-data.ts'
import { textInTurns } from './text-in-turns.ts'

/** A request to one of the operations of the AI SDK, as the user of the socket. */
export interface SocketHttpRequest {
  readonly method: 'GET' | 'POST'
  /** Below the base path. */
  readonly path: string
  /** JSON. */
  readonly body?: string
  readonly key?: string | undefined
}

export interface ChatSocketDeps {
  readonly agentId: string
  /** Maximum size of a frame. */
  readonly maxBytes: number
  readonly yieldTurn: YieldTurn
  readonly request: (request: SocketHttpRequest) => Promise<Response>
  /** Resolves when the client may get more. */
  readonly send: (text: string) => Promise<void>
  /** Closes the connection of a client that violates the protocol. */
  readonly refuse: () => void
}

/** The server's end of a `WebSocketChatTransport`. */
export interface ChatSocket {
  receive(text: string): void
  close(): void
}

/** A request that has a response. */
type Followed = Exclude<SocketRequest, { readonly type: 'abort' }>

interface Active {
  isAborted: boolean
  /** Names the response, once it has begun. */
  name?: string
  cancel?: () => void
}

const MAX_ACTIVE = 32

/**
 * Answers the frames of a client with requests to the operations that the other transports use, so that the same
 * checks and rights apply. The sequence of a chunk is its index in the response.
 */
export function createChatSocket({ agentId, maxBytes, yieldTurn, request, send, refuse }: ChatSocketDeps): ChatSocket {
  const chats = `/agents/${encodeURIComponent(agentId)}/chat`
  const active = new Map<string, Active>()
  // A long frame is parsed in turns; those after it wait.
  let received = Promise.resolve()
  let isClosed = false

  const answer = (one: SocketAnswer) => send(formatSocketAnswer(one))

  const toHttp = async (frame: Followed): Promise<SocketHttpRequest> =>
    frame.type === 'send'
      ? { method: 'POST', path: `${chats}?v=7`, body: await textInTurns(frame.body, yieldTurn), key: frame.key }
      : { method: 'GET', path: `${chats}/${encodeURIComponent(frame.chatId)}/stream?v=7&startIndex=${frame.from}` }

  /** Aborts the run of a response. It may have ended meanwhile. */
  const stop = async (requestId: string, name: string) => {
    const key = /^[\w-]{1,200}$/.test(requestId) ? `abort-${requestId}` : undefined
    const response = await request({
      method: 'POST',
      path: `${chats}/${encodeURIComponent(name)}/stop`,
      body: '{}',
      key,
    })
    await response.body?.cancel()
  }

  /** Passes the chunks of a response on. @returns whether the response was complete */
  const pass = async (requestId: string, response: Response, from: number): Promise<boolean> => {
    const one = active.get(requestId)
    let sequence = from
    for await (const data of blocksIn(response, (cancel) => one && Object.assign(one, { cancel }))) {
      if (!active.has(requestId)) return true
      if (data === '[DONE]') return true
      await answer({ type: 'chunk', requestId, sequence, chunk: data })
      sequence += 1
    }
    return !active.has(requestId)
  }

  const isGone = (one: Active, requestId: string) => one.isAborted || !active.has(requestId)

  /** Ends a response that the client does not want any more. Only a client that says so stops the run. */
  const drop = async (response: Response, one: Active, requestId: string) => {
    await response.body?.cancel()
    if (one.isAborted && one.name !== undefined) await stop(requestId, one.name)
  }

  const follow = async (frame: Followed, one: Active): Promise<void> => {
    const { requestId } = frame
    const response = await request(await toHttp(frame))
    const name = response.headers.get('x-workflow-run-id') ?? undefined
    if (name !== undefined) one.name = name
    if (isGone(one, requestId)) return drop(response, one, requestId)
    if (!response.ok) return answer({ type: 'error', requestId, errorText: await response.text() })
    if (name === undefined) return answer({ type: 'no-active', requestId })
    await answer({ type: 'start', requestId })
    const isComplete = await pass(requestId, response, frame.type === 'resume' ? frame.from : 0)
    if (isGone(one, requestId)) return
    await answer(isComplete ? { type: 'end', requestId } : { type: 'error', requestId, errorText: BROKEN })
  }

  const abort = (requestId: string) => {
    const one = active.get(requestId)
    if (one === undefined) return
    one.isAborted = true
    active.delete(requestId)
    one.cancel?.()
    if (one.name !== undefined) stop(requestId, one.name).catch(ignore)
  }

  const begin = (frame: Followed) => {
    const { requestId } = frame
    if (active.has(requestId)) return refuse()
    if (active.size >= MAX_ACTIVE) return void answer({ type: 'error', requestId, errorText: TOO_MANY })
    const one: Active = { isAborted: false }
    active.set(requestId, one)
    follow(frame, one)
      .catch(() => answer({ type: 'error', requestId, errorText: BROKEN }))
      .finally(() => active.delete(requestId))
      .catch(ignore)
  }

  const take = async (text: string) => {
    const frame = await parseSocketRequest(text, { maxBytes, yieldTurn })
    if (isClosed) return
    if (frame === undefined) refuse()
    else if (frame.type === 'abort') abort(frame.requestId)
    else begin(frame)
  }

  return {
    receive(text) {
      received = received.then(() => take(text)).catch(refuse)
    },
    close() {
      isClosed = true
      const all = [...active.values()]
      active.clear()
      for (const { cancel } of all) cancel?.()
    },
  }
}

const BROKEN = 'the response broke off: resume the chat'
const TOO_MANY = `the connection has ${MAX_ACTIVE} open requests already`
const ignore = () => undefined

import { errorLine } from '@perdure/protocol'
import { createAnswerStream } from './answer-stream.ts'
import { messageHeaders } from './message-headers.ts'
import {
  errorMessage,
  isRequest,
  isSubscription,
  objectOf,
  parseMessage,
  type RpcId,
  type RpcMessage,
  type RpcRequest,
} from './rpc-message.ts'
import { type Connection, createServerLine, type ServerLineDeps } from './server-line.ts'

export interface BridgeDeps extends ServerLineDeps {
  /** Writes a message to the client. */
  readonly write: (message: string) => void
  /** A key that the server has not seen. */
  readonly newKey: () => string
}

/** Passes messages between a client on stdin and stdout and a server over HTTP. */
export interface Bridge {
  /** Takes one line of the client. */
  take(line: string): void
  /**
   * Resolves when every message that the client has sent so far is answered or delivered. Does not wait for
   * subscriptions, which have no end.
   */
  settled(): Promise<void>
  /** Whether the server has answered at least once. */
  hasReached(): boolean
  close(): void
}

const PARSE_ERROR = -32_700
const SERVER_ERROR = -32_000
const KEY = 'perdure/idempotencyKey'

export function createBridge(deps: BridgeDeps): Bridge {
  const { write, newKey } = deps
  const closing = new AbortController()
  const line = createServerLine(deps)
  const open = new Map<RpcId, AbortController>()
  const work = new Set<Promise<void>>()
  /** What the handshake has agreed on. The server keeps no session: the id states what the client can do. */
  let session: Readonly<Record<string, string>> = {}

  const send = (message: object) => write(JSON.stringify(message))

  /** A repeated call must not start a second run, so each call has a key. */
  const withKey = (message: RpcRequest): RpcRequest => {
    if (message.method !== 'tools/call') return message
    const meta = { [KEY]: newKey(), ...objectOf(message.params?._meta) }
    return { ...message, params: { ...message.params, _meta: meta } }
  }

  const learn = ({ method }: RpcRequest, { response, message }: { response: Response; message: RpcMessage }) => {
    if (method !== 'initialize' || message.error !== undefined) return
    const id = response.headers.get('mcp-session-id')
    const { protocolVersion } = objectOf(message.result)
    session = {
      ...(id === null ? {} : { 'Mcp-Session-Id': id }),
      ...(typeof protocolVersion === 'string' ? { 'MCP-Protocol-Version': protocolVersion } : {}),
    }
  }

  /** Answers one request: sends it until the server has taken it, and follows the answer until it is complete. */
  const answer = async (asked: RpcRequest, signal: AbortSignal): Promise<void> => {
    const request = withKey(asked)
    const stream = createAnswerStream(request, write)
    const ask = (): Connection => {
      const headers = messageHeaders(request, session)
      const lastEventId = stream.lastEventId()
      return lastEventId === undefined
        ? { method: 'POST', headers, body: JSON.stringify(request) }
        : { method: 'GET', headers: { ...headers, 'Last-Event-ID': lastEventId } }
    }
    await line.exchange(ask, signal, async (response) => {
      const { body, headers } = response
      const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true
      if (isStream && body !== null) return stream.read(body)
      const message = parseMessage(await response.text())
      if (message === undefined) throw new Error(`the server answered ${response.status} without a message`)
      if (message.jsonrpc !== '2.0') throw new Error(refusalText(message))
      learn(request, { response, message })
      send({ ...message, id: request.id })
      return true
    })
  }

  /** A message that expects no answer: a notification, or the answer of the user to a question. */
  const deliver = (message: RpcMessage, signal: AbortSignal): Promise<void> => {
    const ask = () =>
      ({ method: 'POST', headers: messageHeaders(message, session), body: JSON.stringify(message) }) as const
    return line.exchange(ask, signal, async (response) => {
      const refusal = objectOf(parseMessage(await response.text())?.error)
      if (!response.ok)
        deps.note(`the server refused a message of the client: ${String(refusal.message ?? response.status)}`)
      return true
    })
  }

  const track = (doing: Promise<void>) => {
    const done = doing.finally(() => work.delete(done))
    work.add(done)
  }

  const begin = (request: RpcRequest) => {
    const stopping = new AbortController()
    open.set(request.id, stopping)
    const signal = AbortSignal.any([closing.signal, stopping.signal])
    const failed = (error: unknown) => {
      if (!signal.aborted) send(errorMessage(request.id, SERVER_ERROR, messageOf(error)))
    }
    const answered = answer(request, signal)
      .catch(failed)
      .finally(() => open.get(request.id) === stopping && open.delete(request.id))
    if (!isSubscription(request)) track(answered)
  }

  return {
    take(text) {
      if (text.trim() === '') return
      const message = parseMessage(text)
      if (message === undefined) return send(errorMessage(null, PARSE_ERROR, 'the line is not a JSON-RPC message'))
      if (isRequest(message)) return begin(message)
      const { requestId } = objectOf(message.method === 'notifications/cancelled' ? message.params : undefined)
      // The client ignores the answer from now on. The run of the call continues, as with a client over HTTP.
      open.get(requestId as RpcId)?.abort()
      const isLost = (error: unknown) => closing.signal.aborted || deps.note(messageOf(error))
      track(
        deliver(message, closing.signal)
          .catch(isLost)
          .then(() => undefined),
      )
    },
    async settled() {
      while (work.size > 0) await Promise.all(work)
    },
    hasReached: line.hasReached,
    close: () => closing.abort(),
  }
}

/** A refusal of a server that has no MCP server at this address. */
const refusalText = ({ error, message, hint }: RpcMessage): string =>
  errorLine({ message: String(message), code: String(error), hint: typeof hint === 'string' ? hint : undefined })

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

import type { Reply } from '@perdure/core'
import { EVERY_ROW, fromJsonText, isRefusal } from '@perdure/ports'
import type { Exchange } from '../exchange.ts'
import type { Answer } from '../handlers.ts'
import type { OpenRunStream } from '../http-app-deps.ts'
import { isStreamingStart } from '../operation-traits.ts'
import { acceptsEventStream } from '../request/accept.ts'
import { SECURITY_HEADERS } from './security-headers.ts'
import { discard, isResponse, isStream, type Outgoing, type TextAnswer, textAnswer } from './text-answer.ts'

/**
 * Converts an answer, new or replayed, to a response. The response is the event stream of a run if the operation offers
 * streaming, the client accepts it, and this request or an earlier one with the same key started the run.
 */
export async function toOutgoing(exchange: Exchange, answer: Answer, openRunStream: OpenRunStream): Promise<Outgoing> {
  const { head, route, headers, principal, requestId } = exchange
  const { tokenId } = principal
  if (isStream(answer) || 'text' in answer) {
    // The metrics read the header of the exchange.
    if (isReplayed(answer)) headers.set('Idempotency-Replayed', 'true')
    return answer
  }
  const { location, replayed, runId, status } = answer
  if (location !== undefined) headers.set('Location', exchange.mountPath + location)
  if (replayed === true) headers.set('Idempotency-Replayed', 'true')
  if (replayed === true && status === 404) return toTextAnswer(withRequestId(answer, requestId))
  const mayStream = route !== undefined && isStreamingStart(route.mounted.operation)
  if (mayStream && runId !== undefined && acceptsEventStream(head.header('accept'))) {
    return streamOrLinks(answer, () => openRunStream({ runId, visibility: EVERY_ROW, tokenId, lastEventId: undefined }))
  }
  return toTextAnswer(answer)
}

/**
 * Sets the request id of a replayed error to the id of the current request. The only error that is ever stored is the
 * 404 that replaces an answer whose content was deleted.
 */
const withRequestId = ({ json, ...answer }: Reply, requestId: string): Reply => ({
  ...answer,
  body: { ...(json === undefined ? {} : (fromJsonText(json) as object)), requestId },
})

/** The run is already accepted, so if no stream is available the client gets the links to follow the run later. */
async function streamOrLinks(accepted: Reply, open: () => Promise<Outgoing>): Promise<Outgoing> {
  try {
    return await open()
  } catch (error) {
    if (isRefusal(error) && error.code === 'overloaded') return toTextAnswer(accepted)
    throw error
  }
}

function toTextAnswer({ status, body, json, contentType }: Reply): TextAnswer {
  const text = json ?? (body === undefined ? undefined : JSON.stringify(body))
  if (text === undefined) return { status, headers: {}, text: null }
  return textAnswer(text, status, { 'Content-Type': contentType ?? 'application/json; charset=utf-8' })
}

/** Adds the headers that every response has. Drops the body for HEAD. */
export async function finish(exchange: Exchange, outgoing: Outgoing): Promise<Outgoing> {
  const { head, headers: extra, requestId } = exchange
  const isHead = head.method === 'HEAD'
  const { status } = outgoing
  if (!isResponse(outgoing)) {
    const headers: Record<string, string> = { ...SECURITY_HEADERS, ...outgoing.headers }
    for (const [name, value] of extra) headers[name] = value
    headers['X-Request-Id'] = requestId
    if (!isHead) return { ...outgoing, headers }
    await discard(outgoing)
    return { status, headers, text: null }
  }
  // Modified in place: copying a Response turns its text into a stream.
  const { headers } = outgoing
  for (const [name, value] of extra) {
    if (name === 'Vary') headers.append(name, value)
    else headers.set(name, value)
  }
  headers.set('X-Request-Id', requestId)
  for (const [name, value] of DEFAULT_HEADERS) if (!headers.has(name)) headers.set(name, value)

  if (!isHead) return outgoing
  await discard(outgoing)
  return new Response(null, { status, headers })
}

const isReplayed = (answer: Outgoing): boolean => {
  if (isResponse(answer)) return answer.headers.has('Idempotency-Replayed')
  return isStream(answer) && answer.headers['Idempotency-Replayed'] !== undefined
}

const DEFAULT_HEADERS = Object.entries(SECURITY_HEADERS)

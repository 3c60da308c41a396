import { isPerdureError, PerdureError } from '@perdure/protocol/error'
import type { ClientContext } from './client-options.ts'
import type { CursorGate } from './cursor-gate.ts'
import { type Pace, pause } from './pace.ts'
import { REPLAY_GAP } from './protocol-tables.ts'
import { type Backoff, backoffMs, isFinalStatus } from './retry-policy.ts'
import { refusalOf } from './send-request.ts'
import { readSseBlocks, type SseBlock } from './sse-blocks.ts'
import { isLastEvent, type SubscriptionItem } from './subscription.ts'

export interface FollowRequest {
  readonly subject: string
  readonly gate: CursorGate
  /** Called, perhaps repeatedly, once a connection follows the subject. */
  readonly onSubscribed: () => void
  /** Ends the iteration, even while it is waiting. */
  readonly signal: AbortSignal
}

/** Three missed heartbeats: the server sends one every 15 s. */
const SILENCE_TIMEOUT_MS = 45_000
const BACKOFF: Backoff = { baseMs: 250, maxMs: 10_000 }

/** Determines the delay before the next connection. */
interface ReconnectState {
  /** Consecutive connections that delivered nothing. */
  failures: number
  /** From the server's `retry:` field. Milliseconds. */
  baseMs: number
  /** From the server's `Retry-After` header. Milliseconds. */
  retryAfterMs: number
}

/**
 * Follows the event stream at a path, reconnecting as often as needed.
 *
 * @throws PerdureError if the server rejects the subscription permanently
 */
export async function* followOverSse(
  context: ClientContext,
  path: string,
  request: FollowRequest,
): AsyncGenerator<SubscriptionItem, void, void> {
  const { signal } = request
  const { pace } = context
  const reconnect: ReconnectState = { failures: 0, baseMs: BACKOFF.baseMs, retryAfterMs: 0 }
  while (!signal.aborted) {
    reconnect.retryAfterMs = 0
    const outcome = yield* followOnce(context, path, { ...request, reconnect })
    if (outcome === 'ended') return
    const { failures, baseMs, retryAfterMs } = reconnect
    const delayMs = retryAfterMs + backoffMs({ ...BACKOFF, baseMs }, failures, pace.random())
    reconnect.failures += 1
    await pause(pace, delayMs, signal).catch(() => {}) // the loop condition handles the abort
  }
}

async function* followOnce(
  context: ClientContext,
  path: string,
  { subject, gate, onSubscribed, signal, reconnect }: FollowRequest & { readonly reconnect: ReconnectState },
): AsyncGenerator<SubscriptionItem, 'ended' | 'lost', void> {
  const connection = new AbortController()
  const either = AbortSignal.any([signal, connection.signal])
  try {
    const body = await openStream(context, path, { cursor: gate.cursor(), signal: either })
    if (body === undefined) return 'ended'
    for await (const block of watchedBlocks(context.pace, body, { connection, signal: either })) {
      reconnect.failures = 0
      onSubscribed()
      if ('retryMs' in block) reconnect.baseMs = Math.min(block.retryMs, BACKOFF.maxMs)
      const item = 'retryMs' in block ? undefined : readItem(block, gate, subject)
      if (item === undefined) continue
      yield item
      if (item.type === 'event' && isLastEvent(subject, item.event)) return 'ended'
    }
  } catch (error) {
    if (!signal.aborted) reconnect.retryAfterMs = retryAfterOf(error)
  } finally {
    connection.abort()
  }
  return 'lost'
}

/** The requested wait in milliseconds. @throws PerdureError if retrying cannot help */
function retryAfterOf(error: unknown): number {
  if (!isPerdureError(error)) return 0
  if (isFinalStatus(error.status)) throw error
  return error.retryAfter ?? 0
}

/** Returns `undefined` if the server reports that no more events will come. */
async function openStream(
  context: ClientContext,
  path: string,
  { cursor, signal }: { readonly cursor: string | undefined; readonly signal: AbortSignal },
): Promise<ReadableStream<Uint8Array> | undefined> {
  let token = await context.token?.({ isRefused: false })
  let response = await requestStream(context, { path, cursor, signal, token })
  if (response.status === 401 && context.token !== undefined) {
    const refused = token
    token = await context.token({ isRefused: true })
    if (token !== refused) {
      await response.body?.cancel()
      response = await requestStream(context, { path, cursor, signal, token })
    }
  }
  if (response.status === 204) return undefined
  if (!response.ok) throw await refusalOf(context, response)
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (response.body === null || !isStream) {
    throw new PerdureError('invalid-answer', 'The response is not an event stream.', { status: response.status })
  }
  return response.body
}

interface StreamRequest {
  readonly path: string
  readonly cursor: string | undefined
  readonly signal: AbortSignal
  readonly token: string | undefined
}

const requestStream = (context: ClientContext, { path, cursor, signal, token }: StreamRequest): Promise<Response> =>
  context.fetch(`${context.baseUrl}${path}`, {
    headers: {
      ...context.headers,
      accept: 'text/event-stream',
      ...(cursor === undefined ? {} : { 'last-event-id': cursor }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    signal,
  })

/** Yields the blocks; aborts the connection if nothing arrives for too long while the consumer is waiting. */
async function* watchedBlocks(
  pace: Pace,
  body: ReadableStream<Uint8Array>,
  { connection, signal }: { readonly connection: AbortController; readonly signal: AbortSignal },
): AsyncGenerator<SseBlock, void, void> {
  let unwatch: () => void = () => {}
  const watch = () => {
    unwatch()
    unwatch = pace.after(SILENCE_TIMEOUT_MS, () => connection.abort())
  }
  const blocks = readSseBlocks(body, { onBytes: watch, signal })
  try {
    for (;;) {
      watch()
      const next = await blocks.next()
      unwatch()
      if (next.done === true) return
      yield next.value
    }
  } finally {
    unwatch()
  }
}

function readItem(
  { id, event, data }: Exclude<SseBlock, { readonly retryMs: number }>,
  gate: CursorGate,
  subject: string,
): SubscriptionItem | undefined {
  if (data === '') {
    if (id !== undefined) gate.prime(id)
    return undefined
  }
  const read = JSON.parse(data)
  if (event !== REPLAY_GAP) return gate.admits(read.eventId) ? { type: 'event', event: read } : undefined
  const { firstAvailable, lastEventId } = read.payload
  const isNew = gate.admitsGap(lastEventId)
  if (id !== undefined) gate.prime(id)
  return isNew ? { type: 'gap', subject, firstAvailable, lastEventId } : undefined
}

import type { ClientContext } from './client-options.ts'
import type { CursorGate } from './cursor-gate.ts'
import { type Pace, pause } from './pace.ts'
import { isPerdureError, PerdureError } from './perdure-error.ts'
import { REPLAY_GAP } from './protocol-tables.ts'
import { type Backoff, backoffMs, isFinalStatus } from './retry-policy.ts'
import { refusalOf } from './send-request.ts'
import { readSseBlocks, type SseBlock } from './sse-blocks.ts'
import { isLastEvent, type SubscriptionItem } from './subscription.ts'

export interface Following {
  readonly subject: string
  readonly gate: CursorGate
  /** Ends it, also while it waits. */
  readonly signal: AbortSignal
}

/** A server is silent for 15 s at most; after three times as long nobody is there. */
const SILENCE_MS = 45_000
const BACKOFF: Backoff = { baseMs: 250, maxMs: 10_000 }

/** How long to wait before the next connection. */
interface Pacing {
  /** Connections in a row that came to nothing. */
  failures: number
  /** What the server told with `retry:`. Milliseconds. */
  baseMs: number
  /** What it told with Retry-After. Milliseconds. */
  askedMs: number
}

/**
 * Follows an event stream by its path, over as many connections as it takes.
 *
 * @throws PerdureError when the server refuses for good
 */
export async function* followOverSse(
  context: ClientContext,
  path: string,
  following: Following,
): AsyncGenerator<SubscriptionItem, void, void> {
  const { signal } = following
  const { pace } = context
  const pacing: Pacing = { failures: 0, baseMs: BACKOFF.baseMs, askedMs: 0 }
  while (!signal.aborted) {
    pacing.askedMs = 0
    const outcome = yield* followOnce(context, path, { ...following, pacing })
    if (outcome === 'ended') return
    const { failures, baseMs, askedMs } = pacing
    const delayMs = askedMs + backoffMs({ ...BACKOFF, baseMs }, failures, pace.random())
    pacing.failures += 1
    await pause(pace, delayMs, signal).catch(() => {}) // an aborted one ends the loop
  }
}

async function* followOnce(
  context: ClientContext,
  path: string,
  { subject, gate, signal, pacing }: Following & { readonly pacing: Pacing },
): AsyncGenerator<SubscriptionItem, 'ended' | 'lost', void> {
  const connection = new AbortController()
  const either = AbortSignal.any([signal, connection.signal])
  try {
    const body = await openStream(context, path, { cursor: gate.cursor(), signal: either })
    if (body === undefined) return 'ended'
    for await (const block of watchedBlocks(context.pace, body, { connection, signal: either })) {
      pacing.failures = 0
      if ('retryMs' in block) pacing.baseMs = Math.min(block.retryMs, BACKOFF.maxMs)
      const item = 'retryMs' in block ? undefined : readItem(block, gate, subject)
      if (item === undefined) continue
      yield item
      if (item.type === 'event' && isLastEvent(subject, item.event)) return 'ended'
    }
  } catch (error) {
    if (!signal.aborted) pacing.askedMs = waitAskedBy(error)
  } finally {
    connection.abort()
  }
  return 'lost'
}

/** Milliseconds. @throws PerdureError when it is final */
function waitAskedBy(error: unknown): number {
  if (!isPerdureError(error)) return 0
  if (isFinalStatus(error.status)) throw error
  return error.retryAfterMs ?? 0
}

/** `undefined`: the server says that nothing will come any more. */
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
    throw new PerdureError('invalid-answer', 'The answer is no event stream.', { status: response.status })
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

/** The blocks; ends the connection when nothing arrives for too long while somebody waits for it. */
async function* watchedBlocks(
  pace: Pace,
  body: ReadableStream<Uint8Array>,
  { connection, signal }: { readonly connection: AbortController; readonly signal: AbortSignal },
): AsyncGenerator<SseBlock, void, void> {
  let unwatch: () => void = () => {}
  const watch = () => {
    unwatch()
    unwatch = pace.after(SILENCE_MS, () => connection.abort())
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

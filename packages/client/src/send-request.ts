import { isPerdureError, PerdureError, type PerdureErrorCode } from '@perdure/protocol/error'
import type { ClientContext } from './client-options.ts'
import { newKey } from './new-key.ts'
import { pause } from './pace.ts'
import { delayBeforeRetry, retryAfterMs } from './retry-policy.ts'
import type { Route } from './route.ts'

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Timeout of the call including its retries. Milliseconds. */
  readonly timeoutMs?: number | undefined
  /** Maximum retries after a failure. */
  readonly maxRetries?: number | undefined
  /** Set one key per effect that must happen only once. Default: a random key, reused for the retries of this call. */
  readonly idempotencyKey?: string | undefined
  /** `respond-async` returns as soon as the run is accepted; `wait=N` returns after at most N seconds. */
  readonly prefer?: 'respond-async' | `wait=${number}` | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Receives the status and headers of the response, such as `Location` and `Idempotency-Replayed`. */
  readonly onAnswer?: ((answer: { readonly status: number; readonly headers: Headers }) => void) | undefined
}

/** The content of a file. The type of a `Blob` is sent as its media type. */
export type FileContent = Blob | Uint8Array<ArrayBuffer> | ArrayBuffer

export interface OutgoingRequest {
  readonly route: Route
  /** Relative to the base URL, including the query. */
  readonly path: string
  readonly body?: unknown
  readonly content?: FileContent | undefined
  readonly options: CallOptions
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The parsed body, the unread `Response` for a raw route, or `undefined` if there is no body. */
  readonly data: unknown
}

/**
 * Makes one logical call. Retries use the same idempotency key and share one timeout; a request that is not safe to
 * repeat is not retried.
 *
 * @throws PerdureError with the server's error code or a client error code; the reason of `options.signal` when it is
 *   aborted
 */
export async function sendRequest(context: ClientContext, request: OutgoingRequest): Promise<Answer> {
  const { route, options } = request
  const timeoutMs = options.timeoutMs ?? context.timeoutMs
  const expiry = new AbortController()
  const cancelExpiry = context.pace.after(timeoutMs, () => expiry.abort(timedOut(timeoutMs)))
  const signal = options.signal === undefined ? expiry.signal : AbortSignal.any([options.signal, expiry.signal])
  const headers = headersOf(context, request)
  try {
    return await sendWithRetries(context, {
      ...request,
      headers,
      signal,
      isRepeatable: route.method === 'GET' || 'idempotency-key' in headers,
    })
  } catch (error) {
    // fetch, timers and streams report an abort in different ways; the caller always gets the signal's reason.
    if (signal.aborted) throw signal.reason
    throw error
  } finally {
    cancelExpiry()
  }
}

const timedOut = (timeoutMs: number) =>
  new PerdureError('timeout', `No response within ${timeoutMs} ms.`, {
    hint: 'Repeat the call with the same idempotencyKey, or raise timeoutMs. A run that was already started continues.',
  })

interface Attempt extends OutgoingRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly isRepeatable: boolean
}

interface RetryState {
  token: string | undefined
  isTokenRenewed: boolean
  failures: number
}

async function sendWithRetries(context: ClientContext, attempt: Attempt): Promise<Answer> {
  const token = await context.token?.({ isRefused: false })
  const state: RetryState = { token, isTokenRenewed: false, failures: 0 }
  for (;;) {
    try {
      return await sendOnce(context, attempt, state.token)
    } catch (thrown) {
      if (attempt.signal.aborted) throw thrown
      await prepareRetry(context, attempt, { state, error: toPerdureError(thrown) })
    }
  }
}

/** Prepares a retry by renewing the token or waiting. @throws the error if the request must not be sent again */
async function prepareRetry(
  { token, pace, maxRetries }: ClientContext,
  { options, isRepeatable, signal }: Attempt,
  { state, error }: { readonly state: RetryState; readonly error: PerdureError },
): Promise<void> {
  if (error.status === 401 && !state.isTokenRenewed) {
    state.isTokenRenewed = true
    const renewed = await token?.({ isRefused: true })
    if (renewed === state.token) throw error
    state.token = renewed
    return
  }
  if (error.code !== 'idempotency-in-flight') state.failures += 1
  const delayMs = delayBeforeRetry(error, {
    failures: state.failures,
    maxRetries: options.maxRetries ?? maxRetries,
    isRepeatable,
    chance: pace.random(),
  })
  if (delayMs === undefined) throw error
  await pause(pace, delayMs, signal)
}

const toPerdureError = (thrown: unknown): PerdureError =>
  isPerdureError(thrown)
    ? thrown
    : new PerdureError('network-failed', 'The server could not be reached, or the connection was lost.', {
        cause: thrown,
      })

async function sendOnce(context: ClientContext, attempt: Attempt, token: string | undefined): Promise<Answer> {
  const { route, path, body, content = null, headers, signal } = attempt
  const response = await context.fetch(`${context.baseUrl}${path}`, {
    method: route.method,
    headers: token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` },
    body: body === undefined ? content : JSON.stringify(body),
    signal,
  })
  const { status } = response
  if (!response.ok && route.alsoAnswers?.includes(status) !== true) throw await refusalOf(context, response)
  attempt.options.onAnswer?.({ status, headers: response.headers })
  if (route.isRaw === true) return { status, headers: response.headers, data: response }
  const text = await response.text()
  return { status, headers: response.headers, data: text === '' ? undefined : parse(text, response) }
}

function parse(text: string, { status, headers }: Response): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const requestId = headers.get('x-request-id') ?? undefined
    throw new PerdureError('invalid-answer', 'The response is not JSON.', { status, requestId, cause })
  }
}

/** Converts an error response. Also handles responses that are not from Perdure, such as a proxy's error page. */
export async function refusalOf(
  { pace, baseUrl }: Pick<ClientContext, 'pace' | 'baseUrl'>,
  response: Response,
): Promise<PerdureError> {
  const { status, headers } = response
  const envelope = envelopeOf(await response.text())
  return new PerdureError(envelope.error ?? 'invalid-answer', envelope.message ?? `The server answered ${status}.`, {
    status,
    hint: envelope.hint ?? (envelope.error === 'route-not-found' ? basePathHint(baseUrl) : undefined),
    requestId: envelope.requestId ?? headers.get('x-request-id') ?? undefined,
    retryAfter: retryAfterMs(headers.get('retry-after'), pace.now()),
  })
}

/** Hint for `route-not-found`: the server has every route of this client, so the base path is probably wrong. */
const basePathHint = (baseUrl: string): string =>
  `set baseUrl to the server URL with its base path (server.basePath, default /v1), like ${new URL('/v1', baseUrl).href}; it is ${baseUrl}`

interface Envelope {
  readonly error?: PerdureErrorCode
  readonly message?: string
  readonly hint?: string
  readonly requestId?: string
}

function envelopeOf(text: string): Envelope {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body !== 'object' || body === null) return {}
    return Object.fromEntries(Object.entries(body).filter(([, value]) => typeof value === 'string'))
  } catch {
    return {}
  }
}

function headersOf(context: ClientContext, { route, body, content, options }: OutgoingRequest): Record<string, string> {
  const key = route.isKeyed === true ? (options.idempotencyKey ?? newKey()) : undefined
  const type = content instanceof Blob && content.type !== '' ? content.type : 'application/octet-stream'
  return {
    ...(content === undefined ? {} : { 'content-type': type }),
    ...context.headers,
    ...options.headers,
    accept: route.isRaw === true ? '*/*' : 'application/json',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(key === undefined ? {} : { 'idempotency-key': key }),
    ...(options.prefer === undefined ? {} : { prefer: options.prefer }),
  }
}

import type { ClientContext } from './client-options.ts'
import { pause } from './pace.ts'
import { isPerdureError, PerdureError, type PerdureErrorCode } from './perdure-error.ts'
import { delayBeforeRetry, retryAfterMs } from './retry-policy.ts'
import type { Route } from './route.ts'

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** How long the call may take, retries included. Milliseconds. */
  readonly timeoutMs?: number | undefined
  /** How often it is sent again after a failure. */
  readonly maxRetries?: number | undefined
  /** One for each thing that is to happen once; a random one without it, the same for all retries of the call. */
  readonly idempotencyKey?: string | undefined
  /** `respond-async` answers once the run is accepted, `wait=N` after N seconds at the latest. */
  readonly prefer?: 'respond-async' | `wait=${number}` | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Sees status and headers of the answer, such as `Location` and `Idempotency-Replayed`. */
  readonly onAnswer?: ((answer: { readonly status: number; readonly headers: Headers }) => void) | undefined
}

export interface OutgoingRequest {
  readonly route: Route
  /** Below the base URL, with its query. */
  readonly path: string
  readonly body?: unknown
  readonly options: CallOptions
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The parsed body; the unread `Response` of a raw route; `undefined` without a body. */
  readonly data: unknown
}

/**
 * One logical call: retried while that cannot do anything twice, under one key, within one limit of time.
 *
 * @throws PerdureError with the identifier of the server's refusal, or of what failed on this side; the reason of
 *   `options.signal` when that is aborted
 */
export async function sendRequest(context: ClientContext, request: OutgoingRequest): Promise<Answer> {
  const { route, options } = request
  const timeoutMs = options.timeoutMs ?? context.timeoutMs
  const expiry = new AbortController()
  const cancelExpiry = context.pace.after(timeoutMs, () => expiry.abort(timedOut(timeoutMs)))
  const signal = options.signal === undefined ? expiry.signal : AbortSignal.any([options.signal, expiry.signal])
  const headers = headersOf(context, request)
  try {
    return await untilAnswered(context, {
      ...request,
      headers,
      signal,
      isRepeatable: route.method === 'GET' || 'idempotency-key' in headers,
    })
  } catch (error) {
    // Whatever an aborted signal makes of fetch, timers and streams, the caller sees why it was aborted.
    if (signal.aborted) throw signal.reason
    throw error
  } finally {
    cancelExpiry()
  }
}

const timedOut = (timeoutMs: number) =>
  new PerdureError('timeout', `No answer within ${timeoutMs} ms.`, {
    hint: 'A run that was started goes on. Repeat the call with the same idempotencyKey, or raise timeoutMs.',
  })

interface Attempt extends OutgoingRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly isRepeatable: boolean
}

interface Course {
  token: string | undefined
  isRenewed: boolean
  failures: number
}

async function untilAnswered(context: ClientContext, attempt: Attempt): Promise<Answer> {
  const token = await context.token?.({ isRefused: false })
  const course: Course = { token, isRenewed: false, failures: 0 }
  for (;;) {
    try {
      return await sendOnce(context, attempt, course.token)
    } catch (thrown) {
      if (attempt.signal.aborted) throw thrown
      await prepareNext(context, attempt, { course, error: asFailure(thrown) })
    }
  }
}

/** Gets ready to send it again: with another token, or after a while. @throws the error when it is not sent again */
async function prepareNext(
  { token, pace, maxRetries }: ClientContext,
  { options, isRepeatable, signal }: Attempt,
  { course, error }: { readonly course: Course; readonly error: PerdureError },
): Promise<void> {
  if (error.status === 401 && !course.isRenewed) {
    course.isRenewed = true
    const renewed = await token?.({ isRefused: true })
    if (renewed === course.token) throw error
    course.token = renewed
    return
  }
  if (error.error !== 'idempotency-in-flight') course.failures += 1
  const delayMs = delayBeforeRetry(error, {
    failures: course.failures,
    maxRetries: options.maxRetries ?? maxRetries,
    isRepeatable,
    chance: pace.random(),
  })
  if (delayMs === undefined) throw error
  await pause(pace, delayMs, signal)
}

const asFailure = (thrown: unknown): PerdureError =>
  isPerdureError(thrown)
    ? thrown
    : new PerdureError('network-failed', 'The server could not be reached, or the connection broke off.', {
        cause: thrown,
      })

async function sendOnce(context: ClientContext, attempt: Attempt, token: string | undefined): Promise<Answer> {
  const { route, path, body, headers, signal } = attempt
  const response = await context.fetch(`${context.baseUrl}${path}`, {
    method: route.method,
    headers: token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` },
    body: body === undefined ? null : JSON.stringify(body),
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
    throw new PerdureError('invalid-answer', 'The answer is not JSON.', { status, requestId, cause })
  }
}

/** What a refusal says. Also of one that does not come from this server, such as a proxy's page. */
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
    retryAfterMs: retryAfterMs(headers.get('retry-after'), pace.now()),
  })
}

/** Every route of this client is one of the server's, so most likely it was looked for in another place. */
const basePathHint = (baseUrl: string): string =>
  `baseUrl is the address of the server with its base path (server.basePath, /v1 unless it is configured), like ${new URL('/v1', baseUrl).href}; it is ${baseUrl}`

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

function headersOf(context: ClientContext, { route, body, options }: OutgoingRequest): Record<string, string> {
  const key = route.isKeyed === true ? (options.idempotencyKey ?? newKey()) : undefined
  return {
    ...context.headers,
    ...options.headers,
    accept: route.isRaw === true ? '*/*' : 'application/json',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(key === undefined ? {} : { 'idempotency-key': key }),
    ...(options.prefer === undefined ? {} : { prefer: options.prefer }),
  }
}

/** The time in milliseconds and 80 random bits: what comes in order is stored in order, which costs the server less. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(10))
  const random = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return Date.now().toString(16).padStart(12, '0') + random
}

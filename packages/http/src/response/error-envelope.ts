import { type IdGenerator, isRefusal, perdureError, type Refusal } from '@perdure/ports'
import { ERRORS, type ErrorCode, PROTOCOLS, type Protocol, type ProtocolName } from '@perdure/protocol'
import { requestIdOf } from '../request/request-id.ts'
import { toEnvelope } from './envelope.ts'
import { errorPage } from './error-page.ts'
import { SECURITY_HEADERS } from './security-headers.ts'
import { type TextAnswer, textAnswer } from './text-answer.ts'

/** Converts any error but a PerdureError to `internal-error`, whose details go only to the log. */
export const toRefusal = (thrown: unknown): Refusal =>
  isRefusal(thrown) ? thrown : perdureError('internal-error', { cause: thrown })

/** Default Retry-After of errors whose source does not know how long the condition lasts. */
const RETRY_AFTER_MS: Partial<Record<ErrorCode, number>> = {
  SQLITE_BUSY: 1_000,
  'storage-full': 30_000,
  'storage-unavailable': 1_000,
}

const CHALLENGES: Partial<Record<ErrorCode, string>> = {
  'auth-required': 'Bearer realm="perdure"',
  'auth-invalid': 'Bearer realm="perdure", error="invalid_token"',
  'auth-expired': 'Bearer realm="perdure", error="invalid_token"',
  'auth-revoked': 'Bearer realm="perdure", error="invalid_token"',
  'scope-denied': 'Bearer realm="perdure", error="insufficient_scope"',
}

const MORE_HEADERS = new WeakMap<Refusal, Readonly<Record<string, string>>>()

/** The same error, whose response has these headers, too. */
export function withHeaders(error: Refusal, headers: Readonly<Record<string, string>>): Refusal {
  MORE_HEADERS.set(error, headers)
  return error
}

/** The protocol of the request, and its body as far as it was read. */
export interface AskedIn {
  readonly protocol?: ProtocolName | undefined
  readonly json?: unknown
  /** Whether a person reads the answer in a browser. */
  readonly isPage?: boolean
}

/** The error response, with `WWW-Authenticate` and `Retry-After` where the error calls for them. */
export function toErrorAnswer(error: Refusal, requestId: string, asked: AskedIn = {}): TextAnswer {
  const challenge = CHALLENGES[error.code]
  const retryAfterMs = error.retryAfter ?? RETRY_AFTER_MS[error.code]
  const { text, contentType, headers } = bodyOf(error, requestId, asked)
  return textAnswer(text, ERRORS[error.code].status, {
    'Content-Type': contentType,
    ...(challenge === undefined ? {} : { 'WWW-Authenticate': challenge }),
    ...headers,
    ...MORE_HEADERS.get(error),
    ...(retryAfterMs === undefined ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) }),
  })
}

function bodyOf(error: Refusal, requestId: string, { protocol, json, isPage }: AskedIn): ReturnType<ErrorBodyOf> {
  if (isPage === true) return errorPage(error, requestId)
  const envelope = toEnvelope(error, requestId)
  const errorBody = protocol === undefined ? undefined : (PROTOCOLS[protocol] as Protocol).errorBody
  const shown = { ...envelope, code: error.code, retryAfterMs: error.retryAfter }
  return errorBody?.(shown, json) ?? { text: JSON.stringify(envelope), contentType: 'application/json; charset=utf-8' }
}

type ErrorBodyOf = NonNullable<Protocol['errorBody']>

/** The error response to a request that is refused before the first stage. */
export function toErrorResponse(thrown: unknown, ids: Pick<IdGenerator, 'randomBytes'>): Response {
  const requestId = requestIdOf(undefined, ids)
  const { text, ...init } = toErrorAnswer(toRefusal(thrown), requestId)
  return new Response(text, { ...init, headers: { ...init.headers, ...SECURITY_HEADERS, 'X-Request-Id': requestId } })
}

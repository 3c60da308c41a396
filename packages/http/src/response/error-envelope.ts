import { type IdGenerator, isRefusal, perdureError, type Refusal } from '@perdure/ports'
import { ERRORS, type ErrorCode } from '@perdure/protocol'
import { requestIdOf } from '../request/request-id.ts'
import { type AskedIn, errorBody } from './error-formats.ts'
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

/** The error response, with `WWW-Authenticate` and `Retry-After` where the error calls for them. */
export function toErrorAnswer(error: Refusal, requestId: string, asked: AskedIn = {}): TextAnswer {
  const challenge = CHALLENGES[error.code]
  const retryAfterMs = error.retryAfter ?? RETRY_AFTER_MS[error.code]
  const { text, contentType } = errorBody(error, requestId, asked)
  return textAnswer(text, ERRORS[error.code].status, {
    'Content-Type': contentType,
    ...(challenge === undefined ? {} : { 'WWW-Authenticate': challenge }),
    // This client repeats every request with the status 409, and so would start a run again.
    ...(asked.dialect === 'openai' && ERRORS[error.code].status === 409 && error.code !== 'idempotency-in-flight'
      ? { 'X-Should-Retry': 'false' }
      : {}),
    ...(retryAfterMs === undefined ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) }),
  })
}

/** The error response to a request that is refused before the first stage. */
export function toErrorResponse(thrown: unknown, ids: Pick<IdGenerator, 'randomBytes'>): Response {
  const requestId = requestIdOf(undefined, ids)
  const { text, ...init } = toErrorAnswer(toRefusal(thrown), requestId)
  return new Response(text, { ...init, headers: { ...init.headers, ...SECURITY_HEADERS, 'X-Request-Id': requestId } })
}

import type { PerdureError } from '@perdure/protocol/error'

/** Exponential backoff with full jitter, so that many clients do not reconnect at the same moment. */
export interface Backoff {
  readonly baseMs: number
  readonly maxMs: number
}

/** @param chance jitter from 0 to 1; 1 gives the longest wait */
export const backoffMs = ({ baseMs, maxMs }: Backoff, failures: number, chance: number): number =>
  Math.ceil(Math.min(maxMs, baseMs * 2 ** Math.min(failures, 30)) * chance)

/** Parses `Retry-After` (seconds, or a date relative to `now`) into milliseconds. */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const text = header.trim()
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1_000)
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

const REQUEST_BACKOFF: Backoff = { baseMs: 250, maxMs: 8_000 }

/** Longest `Retry-After` that a call waits for; if it is longer, the caller gets the error. */
const MAX_RETRY_AFTER_MS = 60_000

export interface RetryContext {
  /** Failed attempts so far, including the last attempt. */
  readonly failures: number
  readonly maxRetries: number
  /** Whether the request is safe to repeat: it is read-only or has an idempotency key. */
  readonly isRepeatable: boolean
  readonly chance: number
}

/** Milliseconds to wait before the request is sent again; `undefined` if it must not be retried. */
export function delayBeforeRetry(error: PerdureError, trial: RetryContext): number | undefined {
  const isInFlight = error.code === 'idempotency-in-flight'
  if (!isInFlight && (trial.failures > trial.maxRetries || !isRetried(error, trial.isRepeatable))) return undefined
  const asked = error.retryAfter ?? 0
  if (asked > MAX_RETRY_AFTER_MS) return undefined
  return asked + backoffMs(REQUEST_BACKOFF, Math.max(0, trial.failures - 1), trial.chance)
}

const GATEWAY_STATUSES = [408, 502, 503, 504]

function isRetried({ code, status }: PerdureError, isRepeatable: boolean): boolean {
  // The server sends 429 before it executes anything, so a retry is safe. A retry during a lockout only prolongs it.
  if (status === 429) return code !== 'auth-locked-out'
  return isRepeatable && (code === 'network-failed' || (status !== undefined && GATEWAY_STATUSES.includes(status)))
}

/** Statuses of a subscription request for which retrying cannot help. */
export const isFinalStatus = (status: number | undefined): boolean =>
  status !== undefined && FINAL_STATUSES.includes(status)

const FINAL_STATUSES = [400, 401, 403, 404, 405, 421, 501]

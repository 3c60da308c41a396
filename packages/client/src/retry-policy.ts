import type { PerdureError } from './perdure-error.ts'

/** A wait that grows with every failure and is spread over its whole length, so that many clients do not return at once. */
export interface Backoff {
  readonly baseMs: number
  readonly maxMs: number
}

/** @param chance from 0 to 1; 1 is the longest wait. */
export const backoffMs = ({ baseMs, maxMs }: Backoff, failures: number, chance: number): number =>
  Math.ceil(Math.min(maxMs, baseMs * 2 ** Math.min(failures, 30)) * chance)

/** Reads Retry-After: seconds, or a date that is resolved against the clock. Milliseconds. */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const text = header.trim()
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1_000)
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

const RETRIED_BACKOFF: Backoff = { baseMs: 250, maxMs: 8_000 }

/** The longest wait a call takes upon itself; a server that asks for more gets its error handed on. Milliseconds. */
const LONGEST_WAIT_MS = 60_000

export interface Trial {
  /** Failed attempts that count, the last one included. */
  readonly failures: number
  readonly maxRetries: number
  /** Whether sending it twice does no more than sending it once: it is read only, or carries a key. */
  readonly isRepeatable: boolean
  readonly chance: number
}

/** How long to wait before the same request is sent again; `undefined`: it is not. Milliseconds. */
export function delayBeforeRetry(error: PerdureError, trial: Trial): number | undefined {
  const isInFlight = error.error === 'idempotency-in-flight'
  if (!isInFlight && (trial.failures > trial.maxRetries || !isRetried(error, trial.isRepeatable))) return undefined
  const asked = error.retryAfterMs ?? 0
  if (asked > LONGEST_WAIT_MS) return undefined
  return asked + backoffMs(RETRIED_BACKOFF, Math.max(0, trial.failures - 1), trial.chance)
}

const GATEWAY_STATUSES = [408, 502, 503, 504]

function isRetried({ error, status }: PerdureError, isRepeatable: boolean): boolean {
  // Refused before anything was done. A lockout is not: only another credential ends it.
  if (status === 429) return error !== 'auth-locked-out'
  return isRepeatable && (error === 'network-failed' || GATEWAY_STATUSES.includes(status))
}

/** Refusals of a subscription that no later attempt changes. */
export const isFinalStatus = (status: number): boolean => FINAL_STATUSES.includes(status)

const FINAL_STATUSES = [400, 401, 403, 404, 405, 421, 501]

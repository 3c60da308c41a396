import type { Clock, Timers } from '@perdure/ports'
import { parseHttpDate } from './http-date.ts'
import { isAbort, isRetryable as isMarkedRetryable, neverAborted, traitsOf } from './thrown.ts'

export interface RetryDeps {
  readonly timers: Timers
  readonly clock: Clock
  /** A number from 0 (included) to 1 (excluded), as `Math.random` returns it. */
  readonly random: () => number
}

export interface RetryOptions {
  readonly attempts?: number | undefined // calls in all, the first included; 3 when missing
  readonly initialDelayMs?: number | undefined // 500 when missing
  readonly maxDelayMs?: number | undefined // 30,000 when missing; a Retry-After may be longer
  readonly factor?: number | undefined // 2 when missing
  /** `'full'` (default) picks each delay between zero and its bound, so that callers do not come back together. */
  readonly jitter?: 'full' | 'none' | undefined
  /** A Retry-After over this is not waited for: the error is thrown. 120,000 when missing. */
  readonly maxRetryAfterMs?: number | undefined
  /** Replaces the rule that errors with `retryable: true` are retried. Aborts never come here. */
  readonly isRetryable?: ((error: unknown) => boolean) | undefined
  readonly signal?: AbortSignal | undefined
}

/** `attempt` counts from 1. The signal is the one in the options, or one that never aborts. */
export type RetryFn<T> = (attempt: number, signal: AbortSignal) => T | PromiseLike<T>

/**
 * Calls `fn` until it returns, its error may not be retried, or its calls are used up; then throws the last error as it
 * is. Pauses in between, growing from one to the next and at least as long as the error's Retry-After asks.
 *
 * An abort is never retried: its error is thrown at once, and a pause ends with the signal's reason.
 *
 * @throws RangeError when `attempts` is not at least 1
 */
export type Retry = <T>(fn: RetryFn<T>, options?: RetryOptions) => Promise<T>

/**
 * Makes `retry`. Core has neither timers nor randomness, so whoever composes the program makes it, once; agent authors
 * get it ready-made from `@perdure/server-app`.
 */
export function createRetry(deps: RetryDeps): Retry {
  return async (fn, options = {}) => {
    const { attempts = 3, signal = neverAborted() } = options
    if (!(attempts >= 1)) throw new RangeError(`attempts must be at least 1, not ${attempts}`)

    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted()
      try {
        return await fn(attempt, signal)
      } catch (error) {
        if (isAbort(error, signal) || attempt >= attempts) throw error
        await pause(deps.timers, delayAfter({ error, attempt }, options, deps), signal)
      }
    }
  }
}

interface Failure {
  readonly error: unknown
  readonly attempt: number
}

/** How long to pause before the next attempt. @throws the error itself when there must be none */
function delayAfter({ error, attempt }: Failure, options: RetryOptions, deps: RetryDeps): number {
  const { isRetryable = isMarkedRetryable, maxRetryAfterMs = 120_000 } = options
  if (!isRetryable(error)) throw error
  const retryAfterMs = retryAfterOf(error, deps.clock)
  if (retryAfterMs > maxRetryAfterMs) throw error
  return Math.max(retryAfterMs, backoffMs(attempt, options, deps.random))
}

/** How long the error asks to wait from now on; 0 when it does not say. A date is read against the clock of this moment. */
function retryAfterOf(error: unknown, clock: Clock): number {
  const { retryAfterMs, retryAfterDate } = traitsOf(error)
  if (typeof retryAfterMs === 'number' && retryAfterMs > 0) return retryAfterMs
  if (typeof retryAfterDate !== 'string') return 0
  const now = clock.now()
  return (parseHttpDate(retryAfterDate, now) ?? now) - now
}

function backoffMs(attempt: number, options: RetryOptions, random: () => number): number {
  const { initialDelayMs = 500, maxDelayMs = 30_000, factor = 2, jitter = 'full' } = options
  // Zero times an overflown growth would not be a number.
  const growth = Math.min(factor ** (attempt - 1), Number.MAX_VALUE)
  const boundMs = Math.min(maxDelayMs, initialDelayMs * growth)
  return jitter === 'full' ? Math.floor(boundMs * random()) : boundMs
}

function pause(timers: Timers, delayMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      cancel()
      reject(signal.reason)
    }
    const cancel = timers.after(delayMs, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

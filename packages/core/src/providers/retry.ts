import type { Clock, Timers } from '@perdure/ports'
import { DURATION_FORMS, type Duration, toMilliseconds } from '@perdure/protocol'
import { parseHttpDate } from './http-date.ts'
import { isAbort, isRetryable as isMarkedRetryable, neverAborted, traitsOf } from './thrown.ts'

export interface RetryDeps {
  readonly timers: Timers
  readonly clock: Clock
  /** Returns a number from 0 (inclusive) to 1 (exclusive), like `Math.random`. */
  readonly random: () => number
}

export interface ProviderRetryOptions {
  readonly retries?: number | undefined // not counting the first call; default 2
  readonly delay?: Duration | undefined // default 500 ms
  readonly maxDelay?: Duration | undefined // default 30 s; a longer Retry-After takes precedence
  readonly factor?: number | undefined // default 2
  /** `'full'` (default) picks each delay at random between zero and its bound, so that callers do not retry in sync. */
  readonly jitter?: 'full' | 'none' | undefined
  /** If Retry-After is longer than this, `retry` throws the error instead of waiting. Default 2 minutes. */
  readonly maxRetryAfter?: Duration | undefined
  /** Replaces the default rule, which retries errors with `retryable: true`. Not called for aborts. */
  readonly isRetryable?: ((error: unknown) => boolean) | undefined
  readonly signal?: AbortSignal | undefined
}

/** `attempt` starts at 1. `signal` is the signal from the options, or a signal that never aborts. */
export type RetryFn<T> = (attempt: number, signal: AbortSignal) => T | PromiseLike<T>

/**
 * Calls `fn` until a call returns. If an error is not retryable or no retries are left, throws that error unchanged.
 * Pauses between calls, each time longer and at least as long as the error's Retry-After.
 *
 * An abort is never retried: its error is thrown at once, and a pause in progress rejects with the signal's reason.
 *
 * @throws RangeError for a negative `retries`, or a value that is not a duration
 */
export type Retry = <T>(fn: RetryFn<T>, options?: ProviderRetryOptions) => Promise<T>

/**
 * Creates `retry`. Core has neither timers nor randomness, so the composition root creates the function; agent authors
 * import `retry` from `@perdure/server-app`.
 */
export function createRetry(deps: RetryDeps): Retry {
  return async (fn, options = {}) => {
    const { retries = 2, signal = neverAborted() } = options
    if (!(retries >= 0)) throw new RangeError(`retries must be at least 0, not ${retries}`)
    const backoff = backoffOf(options)

    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted()
      try {
        return await fn(attempt, signal)
      } catch (error) {
        if (isAbort(error, signal) || attempt > retries) throw error
        await pause(deps.timers, delayAfter({ error, attempt }, backoff, deps), signal)
      }
    }
  }
}

type Backoff = ReturnType<typeof backoffOf>

const backoffOf = (options: ProviderRetryOptions) => {
  const { isRetryable = isMarkedRetryable, factor = 2, jitter = 'full' } = options
  const { delay = 500, maxDelay = '30s', maxRetryAfter = '2m' } = options
  return {
    ...{ isRetryable, factor, jitter, delayMs: checked('delay', delay), maxDelayMs: checked('maxDelay', maxDelay) },
    maxRetryAfterMs: checked('maxRetryAfter', maxRetryAfter),
  }
}

function checked(name: string, duration: Duration): number {
  const milliseconds = toMilliseconds(duration)
  if (milliseconds === undefined) throw new RangeError(`${name} must be ${DURATION_FORMS}`)
  return milliseconds
}

interface Failure {
  readonly error: unknown
  readonly attempt: number
}

/**
 * The pause before the next attempt, in milliseconds.
 *
 * @throws the error of the failure if the call must not be retried
 */
function delayAfter({ error, attempt }: Failure, options: Backoff, deps: RetryDeps): number {
  const { isRetryable, maxRetryAfterMs } = options
  if (!isRetryable(error)) throw error
  const retryAfterMs = retryAfterOf(error, deps.clock)
  if (retryAfterMs > maxRetryAfterMs) throw error
  return Math.max(retryAfterMs, backoffMs(attempt, options, deps.random))
}

/** The Retry-After of the error as a delay from now; 0 if it has none. */
function retryAfterOf(error: unknown, clock: Clock): number {
  const { retryAfterMs, retryAfterDate } = traitsOf(error)
  if (typeof retryAfterMs === 'number' && retryAfterMs > 0) return retryAfterMs
  if (typeof retryAfterDate !== 'string') return 0
  const now = clock.now()
  return (parseHttpDate(retryAfterDate, now) ?? now) - now
}

function backoffMs(attempt: number, options: Backoff, random: () => number): number {
  const { delayMs, maxDelayMs, factor, jitter } = options
  // Without the cap, an initial delay of 0 times Infinity would be NaN.
  const growth = Math.min(factor ** (attempt - 1), Number.MAX_VALUE)
  const boundMs = Math.min(maxDelayMs, delayMs * growth)
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

import { isRetryable, type Logger, type Refusal, type Timers } from '@perdure/ports'

export interface RetryDeps {
  readonly timers: Timers
  readonly logger: Logger
}

const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 5_000

/** Pauses between attempts, each twice as long as the one before, up to 5 s. */
export interface Backoff {
  /** Logs the refusal of an attempt, and resolves when the next attempt is due. */
  pause(refusal: Refusal): Promise<void>
  /** Makes the next pause the shortest one. */
  reset(): void
}

export function createBackoff({ timers, logger }: RetryDeps): Backoff {
  let delayMs = FIRST_DELAY_MS
  return {
    pause({ code }) {
      logger.warn('storage call refused; retrying', { error: code, delayMs })
      const pause = new Promise<void>((resolve) => timers.after(delayMs, resolve))
      delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS)
      return pause
    },
    reset() {
      delayMs = FIRST_DELAY_MS
    },
  }
}

/** Which errors to retry, and when to stop retrying. */
export interface RetryPolicy {
  /** Defaults to `isRetryable`. */
  readonly mayRetry?: (error: unknown) => error is Refusal
  /** Ends the current pause early when it resolves. */
  readonly interrupt?: Promise<void>
  /** Once it returns true, the next error is thrown. */
  readonly shouldStop?: () => boolean
}

/**
 * Retries `attempt` with exponential backoff while the storage reports that nothing was written and a retry may
 * succeed.
 */
export async function retryTransient<T>(
  deps: RetryDeps,
  attempt: () => Promise<T>,
  { mayRetry = isRetryable, interrupt, shouldStop = () => false }: RetryPolicy = {},
): Promise<T> {
  let backoff: Backoff | undefined
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!mayRetry(error) || shouldStop()) throw error
      backoff ??= createBackoff(deps)
      const pause = backoff.pause(error)
      await (interrupt === undefined ? pause : Promise.race([pause, interrupt]))
      if (shouldStop()) throw error
    }
  }
}

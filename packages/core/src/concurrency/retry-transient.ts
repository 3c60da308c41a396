import { isRetryable, type Logger, type Refusal, type Timers } from '@perdure/ports'

export interface RetryDeps {
  readonly timers: Timers
  readonly logger: Logger
}

const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 5_000

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
  { timers, logger }: RetryDeps,
  attempt: () => Promise<T>,
  { mayRetry = isRetryable, interrupt, shouldStop = () => false }: RetryPolicy = {},
): Promise<T> {
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS)) {
    try {
      return await attempt()
    } catch (error) {
      if (!mayRetry(error) || shouldStop()) throw error
      logger.warn('storage call refused; retrying', { error: error.code, delayMs })
      const pause = new Promise<void>((resolve) => timers.after(delayMs, resolve))
      await (interrupt === undefined ? pause : Promise.race([pause, interrupt]))
      if (shouldStop()) throw error
    }
  }
}

import { AppError, type Timers } from '@perdure/ports'
import { backoffMs } from '../concurrency/backoff.ts'
import type { StepRetry } from './step.ts'

interface Abortable {
  readonly timers: Timers
  readonly signal: AbortSignal
}

/** Pauses before the next try. Rejects with the abort reason as soon as the run is aborted. */
export function pauseBefore({ timers, signal }: Abortable, retry: StepRetry = {}, attempt: number): Promise<void> {
  const delayMs = backoffMs(retry, attempt)
  if (signal.aborted) return Promise.reject(signal.reason)
  return new Promise((resolve, reject) => {
    const cancel = timers.after(delayMs, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    const onAbort = () => {
      cancel()
      reject(signal.reason)
    }
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

/** Calls `fn` with a signal that also aborts after `timeoutMs`. @throws AppError `step-failed` after the timeout */
export async function withTimeout<T>(
  { timers, signal }: Abortable,
  timeoutMs: number | undefined,
  fn: (signal: AbortSignal) => T | PromiseLike<T>,
): Promise<T> {
  if (timeoutMs === undefined) return fn(signal)
  const own = new AbortController()
  const onAbort = () => own.abort(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  const timedOut = Promise.withResolvers<never>()
  const cancel = timers.after(timeoutMs, () => {
    timedOut.reject(new AppError('step-failed', { message: `no result within ${timeoutMs} ms` }))
    own.abort('timeout')
  })
  try {
    return await Promise.race([fn(own.signal), timedOut.promise])
  } finally {
    cancel()
    signal.removeEventListener('abort', onAbort)
  }
}

import { perdureError, type Timers } from '@perdure/ports'
import { type Duration, toMilliseconds } from '@perdure/protocol'

interface Abortable {
  readonly timers: Timers
  readonly signal: AbortSignal
}

/** Pauses for a number of milliseconds. Rejects with the abort reason as soon as the run is aborted. */
export function pauseFor({ timers, signal }: Abortable, delayMs: number): Promise<void> {
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

/** Calls `fn` with a signal that also aborts after the timeout. @throws PerdureError `step-failed` after the timeout */
export async function withTimeout<T>(
  { timers, signal }: Abortable,
  timeout: Duration | undefined,
  fn: (signal: AbortSignal) => T | PromiseLike<T>,
): Promise<T> {
  const timeoutMs = toMilliseconds(timeout)
  if (timeoutMs === undefined) return fn(signal)
  const own = new AbortController()
  const onAbort = () => own.abort(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  const timedOut = Promise.withResolvers<never>()
  const cancel = timers.after(timeoutMs, () => {
    timedOut.reject(perdureError('step-failed', { message: `no result within ${timeoutMs} ms` }))
    own.abort('timeout')
  })
  try {
    return await Promise.race([fn(own.signal), timedOut.promise])
  } finally {
    cancel()
    signal.removeEventListener('abort', onAbort)
  }
}

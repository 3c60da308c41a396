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
export const withTimeout = <T>(
  scope: Abortable,
  timeout: Duration | undefined,
  fn: (signal: AbortSignal) => T | PromiseLike<T>,
): Promise<T> => withLimits(scope, { timeoutMs: toMilliseconds(timeout) }, fn)

interface Limits {
  readonly timeoutMs: number | undefined
  /** The longest time between two signs of progress. */
  readonly stall?: { readonly afterMs: number; readonly error: () => Error } | undefined
  /** Ends the call when it rejects. */
  readonly required?: Promise<unknown> | undefined
}

/**
 * Calls `fn` with a signal that also aborts when a limit is reached.
 *
 * @throws PerdureError `step-failed` after the timeout; the error of `stall` or of `required`
 */
export async function withLimits<T>(
  scope: Abortable,
  { timeoutMs, stall, required }: Limits,
  fn: (signal: AbortSignal, progress: () => void) => T | PromiseLike<T>,
): Promise<T> {
  const { timers, signal } = scope
  if (timeoutMs === undefined && stall === undefined && required === undefined) return fn(signal, NOTHING)
  const own = new AbortController()
  const onAbort = () => own.abort(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  const ended = Promise.withResolvers<never>()
  const end = (error: Error, reason: string) => {
    ended.reject(error)
    own.abort(reason)
  }
  required?.catch((error: Error) => end(error, 'not recorded'))
  const cancelTimeout =
    timeoutMs === undefined
      ? NOTHING
      : timers.after(timeoutMs, () =>
          end(perdureError('step-failed', { message: `no result within ${timeoutMs} ms` }), 'timeout'),
        )
  const watch =
    stall === undefined ? NO_WATCH : watchProgress(timers, stall.afterMs, () => end(stall.error(), 'stalled'))
  try {
    return await Promise.race([fn(own.signal, watch.progress), ended.promise])
  } finally {
    cancelTimeout()
    watch.cancel()
    signal.removeEventListener('abort', onAbort)
  }
}

const NOTHING = () => undefined
const NO_WATCH = { progress: NOTHING, cancel: NOTHING }

/** How often the watch looks in the time that may pass: a sign of progress sets only a flag, because a model sends thousands. */
const LOOKS = 10

function watchProgress(timers: Timers, afterMs: number, onStall: () => void) {
  let quiet = 0
  let hasProgressed = false
  const look = (): void => {
    quiet = hasProgressed ? 0 : quiet + 1
    hasProgressed = false
    if (quiet >= LOOKS) onStall()
    else cancel = timers.after(afterMs / LOOKS, look)
  }
  let cancel = timers.after(afterMs / LOOKS, look)
  return {
    progress() {
      hasProgressed = true
    },
    cancel: () => cancel(),
  }
}

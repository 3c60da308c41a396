/** The clock, timers and randomness the client uses. Tests replace them. */
export interface Pace {
  /** Wall clock. Milliseconds since 1970. */
  now(): number
  /** A number from 0 (inclusive) to 1 (exclusive). */
  random(): number
  /** Calls `fn` once after `delayMs`. Returns a function that cancels the timer. */
  after(delayMs: number, fn: () => void): () => void
}

const MAX_TIMER_MS = 2_147_483_647

export const realPace: Pace = {
  now: () => Date.now(),
  random: () => Math.random(),
  after(delayMs, fn) {
    const timer = setTimeout(fn, Math.min(delayMs, MAX_TIMER_MS))
    return () => clearTimeout(timer)
  },
}

/** Resolves after the delay; rejects with the signal's reason as soon as it is aborted. */
export function pause(pace: Pace, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const onAbort = () => {
      cancel()
      reject(signal.reason)
    }
    const cancel = pace.after(delayMs, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

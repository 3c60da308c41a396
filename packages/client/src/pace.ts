/** Time and chance, as far as the client needs them. Tests pass their own. */
export interface Pace {
  /** Wall clock. Milliseconds since 1970. */
  now(): number
  /** From 0 up to, not including, 1. */
  random(): number
  /** Calls `fn` once after `delayMs`. Returns what cancels it. */
  after(delayMs: number, fn: () => void): () => void
}

const LONGEST_TIMER_MS = 2_147_483_647

export const realPace: Pace = {
  now: () => Date.now(),
  random: () => Math.random(),
  after(delayMs, fn) {
    const timer = setTimeout(fn, Math.min(delayMs, LONGEST_TIMER_MS))
    return () => clearTimeout(timer)
  },
}

/** Resolves after the delay; rejects with the reason of the signal as soon as it is aborted. */
export function pause(pace: Pace, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const leave = () => {
      cancel()
      reject(signal.reason)
    }
    const cancel = pace.after(delayMs, () => {
      signal.removeEventListener('abort', leave)
      resolve()
    })
    signal.addEventListener('abort', leave, { once: true })
  })
}

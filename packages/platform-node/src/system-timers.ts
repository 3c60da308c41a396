import type { Timers, YieldTurn } from '@perdure/ports'

/** The longest delay that `setTimeout` supports; with a longer delay, Node.js fires the timer after one millisecond. */
const MAX_DELAY_MS = 2 ** 31 - 1

/** Timers of the event loop. They keep the process alive until they fire or are cancelled. */
export const systemTimers: Timers = {
  after(delayMs, fn) {
    let remainingMs = delayMs
    let handle: NodeJS.Timeout | undefined
    const arm = () => {
      const chunkMs = Math.min(remainingMs, MAX_DELAY_MS)
      remainingMs -= chunkMs
      handle = setTimeout(() => (remainingMs > 0 ? arm() : fn()), chunkMs)
    }
    arm()
    // Clears the handle, so that a caller that keeps the cancel function does not keep the cancelled timer in memory.
    return () => {
      clearTimeout(handle)
      handle = undefined
    }
  },
}

export const yieldTurn: YieldTurn = () => new Promise((resolve) => setImmediate(resolve))

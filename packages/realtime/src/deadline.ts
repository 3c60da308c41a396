import type { Timers } from '@perdure/ports'

/** A reusable timeout for something that must happen within a fixed time. */
export interface Deadline {
  /** Starts the timer, unless it is already running. */
  start(): void
  /** Stops the timer. */
  clear(): void
}

export function createDeadline(timers: Timers, ms: number, onMissed: () => void): Deadline {
  let cancel: (() => void) | undefined
  return {
    start() {
      cancel ??= timers.after(ms, () => {
        cancel = undefined
        onMissed()
      })
    },
    clear() {
      cancel?.()
      cancel = undefined
    },
  }
}

import type { Timers } from '@perdure/ports'

/** Something that must happen within a time, again and again. */
export interface Deadline {
  /** Starts the time, unless it is running. */
  start(): void
  /** It has happened: stops the time. */
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

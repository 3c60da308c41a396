import { systemTimers } from '@perdure/platform-node'
import type { Timers } from '@perdure/ports'

/** The timers of a process. `end` cancels them; its shutdown, which no process that is killed has, then waits for none. */
export function mortalTimers(): Timers & { end(): void } {
  const cancels = new Set<() => void>()
  let hasEnded = false
  return {
    after(delayMs, fn) {
      const cancelTimer = systemTimers.after(hasEnded ? 0 : delayMs, () => {
        cancels.delete(cancel)
        fn()
      })
      const cancel = () => {
        cancels.delete(cancel)
        cancelTimer()
      }
      cancels.add(cancel)
      return cancel
    },
    end() {
      hasEnded = true
      for (const cancel of [...cancels]) cancel()
    },
  }
}

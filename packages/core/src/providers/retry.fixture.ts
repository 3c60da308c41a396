import type { Timers } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { createRetry, type Retry } from './retry.ts'

/** Creates `retry` on timers that fire in the next microtask and record their delays. */
export function createInstantRetry(random: () => number = () => 1) {
  const clock = createManualClock()
  const delays: number[] = []
  const timers: Timers = {
    after(delayMs, fn) {
      delays.push(delayMs)
      const cancel = clock.after(delayMs, fn)
      queueMicrotask(() => clock.advance(delayMs))
      return cancel
    },
  }
  const retry: Retry = createRetry({ timers, clock, random })
  return { retry, clock, delays }
}

/** Creates `retry` on timers that fire when the test advances the clock; `pending` counts the armed timers. */
export function createManualRetry() {
  const clock = createManualClock()
  let pending = 0
  const timers: Timers = {
    after(delayMs, fn) {
      pending++
      const cancel = clock.after(delayMs, () => {
        pending--
        fn()
      })
      return () => {
        pending--
        cancel()
      }
    },
  }
  const retry: Retry = createRetry({ timers, clock, random: () => 1 })
  return { retry, clock, pending: () => pending }
}

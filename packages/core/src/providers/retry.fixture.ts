import type { Timers } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { createRetry, type Retry } from './retry.ts'

/** Retry on timers that fire as soon as nothing else is to be done, and note how long they were to take. */
export function createPatientRetry(random: () => number = () => 1) {
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

/** Retry on timers that fire when the clock is advanced; `pending` counts those that wait. */
export function createHeldRetry() {
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

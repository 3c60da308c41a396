import type { Clock, EpochMs, Timers } from '@perdure/ports'

export interface MovableClock extends Clock, Timers {
  /** Advances time by `ms` and fires the timers that become due, in order. */
  pass(ms: number): void
}

interface Timer {
  readonly dueAt: number
  fire(): void
}

/** A running clock that can also be advanced. Its timers do not keep the process alive. */
export function createMovableClock(startMs: number): MovableClock {
  const timers = new Set<Timer>()
  const startedAt = performance.now()
  let aheadMs = 0

  const monotonicMs = () => performance.now() - startedAt + aheadMs
  const nextDue = (until: number) =>
    [...timers].filter(({ dueAt }) => dueAt <= until).sort((a, b) => a.dueAt - b.dueAt)[0]

  return {
    monotonicMs,
    // The tolerance absorbs rounding errors of the sum, so that a timer due at a whole millisecond fires at that
    // millisecond.
    now: () => Math.floor(startMs + monotonicMs() + 1e-6) as EpochMs,
    after(delayMs, fn) {
      const timer = {
        dueAt: monotonicMs() + Math.max(0, delayMs),
        fire() {
          cancel()
          fn()
        },
      }
      // Beyond the longest delay of setTimeout, only `pass` can reach the timer.
      const handle = delayMs > MAX_TIMEOUT_MS ? undefined : setTimeout(fireWeakly, delayMs, new WeakRef(timer)).unref()
      const cancel = () => {
        timers.delete(timer)
        clearTimeout(handle)
      }
      timers.add(timer)
      return cancel
    },
    pass(ms) {
      const until = monotonicMs() + ms
      for (let timer = nextDue(until); timer !== undefined; timer = nextDue(until)) {
        aheadMs += Math.max(0, timer.dueAt - monotonicMs())
        timer.fire()
      }
      aheadMs += Math.max(0, until - monotonicMs())
    },
  }
}

/**
 * The timeout does not hold the timer, which the clock does: a test that is done with its server leaves nothing in memory
 * until the longest delay has passed.
 */
const fireWeakly = (timer: WeakRef<Timer>): void => timer.deref()?.fire()

const MAX_TIMEOUT_MS = 2 ** 31 - 1

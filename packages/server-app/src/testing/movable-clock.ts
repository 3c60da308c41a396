import type { Clock, EpochMs, Timers } from '@perdure/ports'

export interface MovableClock extends Clock, Timers {
  /** Moves time ahead; what falls due on the way happens, in the order of its due times. Milliseconds. */
  pass(ms: number): void
}

interface Timer {
  readonly dueAt: number
  fire(): void
}

/** A clock that goes on by itself and can be moved ahead. What it will do later keeps no process alive. */
export function createMovableClock(startMs: number): MovableClock {
  const timers = new Set<Timer>()
  const startedAt = performance.now()
  let aheadMs = 0

  const monotonicMs = () => performance.now() - startedAt + aheadMs
  const nextDue = (until: number) =>
    [...timers].filter(({ dueAt }) => dueAt <= until).sort((a, b) => a.dueAt - b.dueAt)[0]

  return {
    monotonicMs,
    // What is due at a whole millisecond is due then, whatever sums of fractions come to.
    now: () => Math.floor(startMs + monotonicMs() + 1e-6) as EpochMs,
    after(delayMs, fn) {
      const timer = {
        dueAt: monotonicMs() + Math.max(0, delayMs),
        fire() {
          cancel()
          fn()
        },
      }
      // What is further away than a timer of the event loop can be is reached by moving time only.
      const handle = delayMs > LONGEST_MS ? undefined : setTimeout(timer.fire, delayMs).unref()
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

const LONGEST_MS = 2 ** 31 - 1

import type { Clock, EpochMs, Timers } from '@perdure/ports'

export interface ManualClock extends Clock, Timers {
  /** Moves both clocks forward and runs the timers that become due, in order of their due times. */
  advance(ms: number): void
  /** Sets the wall clock only: durations and timers are unaffected. */
  setWall(at: number): void
}

interface Timer {
  readonly dueAt: number
  readonly fn: () => void
}

/** A clock that moves only when a test advances it. */
export function createManualClock(startMs = Date.UTC(2025, 0, 1)): ManualClock {
  const timers = new Set<Timer>()
  let monotonic = 0
  let wallOffset = startMs

  const takeNextDue = (until: number): Timer | undefined => {
    let next: Timer | undefined
    for (const timer of timers) {
      if (timer.dueAt <= until && (next === undefined || timer.dueAt < next.dueAt)) next = timer
    }
    if (next !== undefined) timers.delete(next)
    return next
  }

  return {
    now: () => (wallOffset + monotonic) as EpochMs,
    monotonicMs: () => monotonic,
    after(delayMs, fn) {
      const timer: Timer = { dueAt: monotonic + Math.max(0, delayMs), fn }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    advance(ms) {
      if (ms < 0) throw new RangeError('a monotonic clock never goes back; use setWall')
      const until = monotonic + ms
      for (let timer = takeNextDue(until); timer !== undefined; timer = takeNextDue(until)) {
        monotonic = timer.dueAt
        timer.fn()
      }
      monotonic = until
    },
    setWall(at) {
      wallOffset = at - monotonic
    },
  }
}

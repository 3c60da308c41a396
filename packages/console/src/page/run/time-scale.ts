/** Maps time to a position between 0 and 1. Long idle gaps are compressed to a fixed width. */
export interface TimeScale {
  position(at: number): number
  readonly gaps: readonly Gap[]
  /** Round points in time for the axis. */
  readonly ticks: readonly Tick[]
}

export interface Gap {
  readonly from: number
  readonly to: number
}

export interface Tick {
  readonly at: number
  readonly position: number
}

interface Interval {
  readonly start: number
  readonly end: number
}

const MIN_GAP_MS = 10_000
/** A gap is compressed if it is longer than this part of the busy time. */
const GAP_SHARE = 0.3
const GAP_WIDTH = 0.05

export function createTimeScale(from: number, to: number, busy: readonly Interval[]): TimeScale {
  const length = Math.max(1, to - from)
  const gaps = gapsOf(from, to, busy)
  const skipped = gaps.reduce((sum, gap) => sum + gap.to - gap.from, 0)
  const gapShare = Math.min(0.6, gaps.length * GAP_WIDTH)
  const gapWidth = gaps.length === 0 ? 0 : gapShare / gaps.length
  const msWidth = (1 - gapShare) / Math.max(1, length - skipped)

  const position = (at: number): number => {
    let place = (Math.min(Math.max(at, from), to) - from) * msWidth
    for (const gap of gaps) {
      if (at <= gap.from) break
      const inside = Math.min(at, gap.to) - gap.from
      place += (inside / (gap.to - gap.from)) * gapWidth - inside * msWidth
    }
    return Math.min(1, Math.max(0, place))
  }
  return { position, gaps, ticks: ticksOf(from, length - skipped, gaps, position) }
}

function gapsOf(from: number, to: number, busy: readonly Interval[]): readonly Gap[] {
  const idle: Gap[] = []
  let reached = from
  for (const { start, end } of [...busy].sort((a, b) => a.start - b.start)) {
    if (start > reached) idle.push({ from: reached, to: start })
    reached = Math.max(reached, end)
  }
  if (to > reached) idle.push({ from: reached, to })
  const idleMs = idle.reduce((sum, gap) => sum + gap.to - gap.from, 0)
  const least = Math.max(MIN_GAP_MS, (to - from - idleMs) * GAP_SHARE)
  return busy.length === 0 ? [] : idle.filter((gap) => gap.to - gap.from > least)
}

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5]
const MAX_TICKS = 6
/** A label, and space beside it. */
const LABEL_WIDTH = 0.07
/** A label further to the right would not fit. */
const LAST_TICK = 0.95

function ticksOf(from: number, busyMs: number, gaps: readonly Gap[], position: (at: number) => number): Tick[] {
  const step = STEPS.find((one) => busyMs / one <= MAX_TICKS) ?? busyMs / MAX_TICKS
  const ticks: Tick[] = []
  let left = MAX_TICKS * 2
  for (let at = from; left > 0 && position(at) < LAST_TICK; at += step, left--) {
    const gap = gaps.find((one) => at > one.from && at < one.to)
    if (gap === undefined) ticks.push({ at: at - from, position: position(at) })
    else at += Math.floor((gap.to - at) / step) * step
  }
  return ticks.filter((tick) => !gaps.some((gap) => reaches(tick.position, position(gap.from))))
}

/** Whether the label of a tick would cover what begins there. */
const reaches = (tick: number, start: number): boolean => tick < start && tick + LABEL_WIDTH > start

import type { EpochMs } from '@perdure/ports'

/** Local wall time, as the epoch milliseconds of the same date and time in UTC. */
export type WallMs = number & { readonly __unit: 'WallMs' }

/** The clock of one time zone. */
export interface WallClock {
  at(instant: EpochMs): WallMs
  /**
   * Returns the instant at which the clock shows this wall time. A wall time that occurs twice yields its first
   * instant; a skipped wall time yields the instant right after the gap.
   */
  instantOf(wall: WallMs): EpochMs
}

const DAY_MS = 86_400_000
const MAX_CLOCKS = 1_000

export interface WallClocks {
  /** @throws RangeError for an unknown zone */
  of(timezone: string): WallClock
}

/** Caches the clocks of time zones, which are expensive to create. */
export function createWallClocks(): WallClocks {
  const clocks = new Map<string, WallClock>()
  return {
    of(timezone) {
      const known = clocks.get(timezone)
      if (known !== undefined) return known
      const clock = createWallClock(timezone)
      if (clocks.size === MAX_CLOCKS) clocks.clear()
      clocks.set(timezone, clock)
      return clock
    },
  }
}

function createWallClock(timezone: string): WallClock {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })

  const offsetAt = (instant: number): number => {
    const second = Math.floor(instant / 1_000) * 1_000
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0, rest = 0] = format
      .format(second)
      .split(/\D+/)
      .map(Number)
    return Date.UTC(year, month - 1, day, hour, minute, rest) - second
  }

  return {
    at: (instant) => (instant + offsetAt(instant)) as WallMs,
    instantOf(wall) {
      const before = offsetAt(wall - DAY_MS)
      const after = offsetAt(wall + DAY_MS)
      // The larger offset yields the earlier instant.
      const offsets = before > after ? [before, after] : [after, before]
      const shown = offsets.map((offset) => wall - offset).find((instant) => instant + offsetAt(instant) === wall)
      return (shown ?? instantAfterGap(wall, { from: wall - after, to: wall - before }, offsetAt)) as EpochMs
    },
  }
}

/** Finds the first instant in the range at which the clock shows a later time than `wall`. */
function instantAfterGap(
  wall: number,
  { from, to }: { readonly from: number; readonly to: number },
  offsetAt: (instant: number) => number,
): number {
  let low = from
  let high = to
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (middle + offsetAt(middle) < wall) low = middle
    else high = middle
  }
  return high
}

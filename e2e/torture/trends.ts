/** Measurements of a server at one moment. */
export interface Sample {
  /** Number of the period; a period is the time between two restarts. */
  readonly period: number
  /** Seconds since the restart that began the period. */
  readonly seconds: number
  readonly rssMiB: number
  readonly descriptors: number
  readonly walMiB: number
  readonly fileMiB: number
}

export interface Trends {
  /** Growth per hour after the warm-up; the median over all periods. */
  readonly perHour: Readonly<Record<Steady, number>>
  readonly maxWalMiB: number
  /** The size of the file at the end of each period. */
  readonly fileMiB: readonly number[]
  /** Values that grew although the load stayed the same. */
  readonly violations: readonly string[]
}

type Steady = 'rssMiB' | 'descriptors' | 'walMiB'

/** Allowed growth in the measured part of a period: an absolute amount, or a share of the current level. */
const MAY_GROW: Readonly<Record<Steady, { readonly by: number; readonly share: number }>> = {
  rssMiB: { by: 8, share: 0.06 },
  descriptors: { by: 3, share: 0.02 },
  walMiB: { by: 8, share: 0.2 },
}
const MAX_WAL_MIB = 64
/** Some data is never removed, so a later period may grow the file by this share of the growth in the first period. */
const KEPT_SHARE = 0.4
/** The measured part of a period is divided into this many windows; each window is represented by its median. */
const WINDOWS = 8

/**
 * Decides whether the values stay flat. Robust against garbage collection and bursts: leaves out the warm-up, uses the
 * median of each window, the median of the slopes between any two windows, and the median over all periods.
 */
export function trendsOf(samples: readonly Sample[]): Trends {
  const periods = [...Map.groupBy(samples, ({ period }) => period).values()]
  const settled = periods.map(afterWarmUp).filter(({ length }) => length >= WINDOWS)
  const names = Object.keys(MAY_GROW) as Steady[]
  const slopes = names.map((name) => [name, median(settled.map((period) => slopeOf(period, name)))] as const)
  const maxWalMiB = Math.max(...samples.map(({ walMiB }) => walMiB))
  const fileMiB = periods.map((period) => Math.max(...period.map((sample) => sample.fileMiB)))
  return {
    perHour: Object.fromEntries(slopes.map(([name, slope]) => [name, slope * 3_600])) as Trends['perHour'],
    ...{ maxWalMiB, fileMiB },
    violations: [
      ...(settled.length === 0 ? ['no period was long enough to judge'] : []),
      ...slopes.flatMap(([name, slope]) => growthOf(settled, name, slope)),
      ...(maxWalMiB > MAX_WAL_MIB ? [`the WAL was ${maxWalMiB.toFixed(0)} MiB`] : []),
      ...fileGrowth(periods, fileMiB),
    ],
  }
}

/**
 * Drops the warm-up, in which caches fill: the first half of a short period, or the first third of a long period, but
 * at least five minutes.
 */
function afterWarmUp(period: readonly Sample[]): readonly Sample[] {
  const whole = period.at(-1)?.seconds ?? 0
  const warmUp = Math.max(whole / 3, Math.min(300, whole / 2))
  return period.filter(({ seconds }) => seconds >= warmUp)
}

function growthOf(periods: readonly (readonly Sample[])[], name: Steady, slope: number): readonly string[] {
  const span = median(periods.map((period) => (period.at(-1)?.seconds ?? 0) - (period[0]?.seconds ?? 0)))
  const level = median(periods.map((period) => median(period.map((sample) => sample[name]))))
  const { by, share } = MAY_GROW[name]
  const growth = slope * span
  if (growth <= Math.max(by, share * level)) return []
  return [`${name} grew by ${growth.toFixed(1)} in ${span.toFixed(0)} s, from about ${level.toFixed(0)}`]
}

/**
 * Compares the growth of the file in the last period with that in the first. The clock advances by days between
 * periods, so retention removes the data of the previous period and the file reuses the space.
 */
function fileGrowth(periods: readonly (readonly Sample[])[], ends: readonly number[]): readonly string[] {
  const [before, last] = ends.slice(-2)
  if (ends.length < 3 || before === undefined || last === undefined) return []
  const added = (ends[0] ?? 0) - (periods[0]?.[0]?.fileMiB ?? 0)
  const allowed = Math.max(1, KEPT_SHARE * added)
  if (last - before <= allowed) return []
  return [
    `the file grew by ${(last - before).toFixed(1)} MiB in the last period and by ${added.toFixed(1)} MiB in the first`,
  ]
}

/** Growth per second, from the medians of the windows. */
function slopeOf(period: readonly Sample[], name: Steady): number {
  const windows = Array.from({ length: WINDOWS }, (_, n) =>
    period.slice(Math.floor((n * period.length) / WINDOWS), Math.floor(((n + 1) * period.length) / WINDOWS)),
  )
  const points = windows.map((window) => ({
    at: median(window.map(({ seconds }) => seconds)),
    value: median(window.map((sample) => sample[name])),
  }))
  return median(
    points.flatMap((one, index) =>
      points.slice(index + 1).map((other) => (other.value - one.value) / (other.at - one.at)),
    ),
  )
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2
}

/** What was seen of a server at one moment. */
export interface Sample {
  readonly life: number
  /** Since the start of this life. */
  readonly seconds: number
  readonly rssMiB: number
  readonly descriptors: number
  readonly walMiB: number
  readonly fileMiB: number
}

export interface Trends {
  /** How each grew in a life after its warm-up, by the hour; the middle one of all lives. */
  readonly perHour: Readonly<Record<Steady, number>>
  readonly maxWalMiB: number
  /** The size of the file at the end of each life. */
  readonly fileMiB: readonly number[]
  /** What has grown although nothing more was asked of the server than before. */
  readonly violations: readonly string[]
}

type Steady = 'rssMiB' | 'descriptors' | 'walMiB'

/** How much each may grow in the part of a life that is looked at: this, or this share of what is there. */
const MAY_GROW: Readonly<Record<Steady, { readonly by: number; readonly share: number }>> = {
  rssMiB: { by: 8, share: 0.06 },
  descriptors: { by: 3, share: 0.02 },
  walMiB: { by: 8, share: 0.2 },
}
const MAX_WAL_MIB = 64
/** Of what the first life has added to the file, what a later one may: that is kept for good. */
const KEPT_SHARE = 0.4
/** Of the windows that the looked-at part of a life is cut into, each counts by its median. */
const WINDOWS = 8

/**
 * Whether it stays as it is. Robust: of each life the warm-up is left out, windows count by their medians, the slope is the
 * median of the slopes between any two of them, and of the lives the middle one counts. So neither a garbage collection nor
 * a burst passes for a leak.
 */
export function trendsOf(samples: readonly Sample[]): Trends {
  const lives = [...Map.groupBy(samples, ({ life }) => life).values()]
  const settled = lives.map(afterWarmUp).filter(({ length }) => length >= WINDOWS)
  const names = Object.keys(MAY_GROW) as Steady[]
  const slopes = names.map((name) => [name, median(settled.map((life) => slopeOf(life, name)))] as const)
  const maxWalMiB = Math.max(...samples.map(({ walMiB }) => walMiB))
  const fileMiB = lives.map((life) => Math.max(...life.map((sample) => sample.fileMiB)))
  return {
    perHour: Object.fromEntries(slopes.map(([name, slope]) => [name, slope * 3_600])) as Trends['perHour'],
    ...{ maxWalMiB, fileMiB },
    violations: [
      ...(settled.length === 0 ? ['no life was long enough to tell'] : []),
      ...slopes.flatMap(([name, slope]) => growthOf(settled, name, slope)),
      ...(maxWalMiB > MAX_WAL_MIB ? [`the log was ${maxWalMiB.toFixed(0)} MiB`] : []),
      ...fileGrowth(lives, fileMiB),
    ],
  }
}

/** The last half of a short life; of a long one all but the first third, and not before the caches of five minutes are full. */
function afterWarmUp(life: readonly Sample[]): readonly Sample[] {
  const whole = life.at(-1)?.seconds ?? 0
  const warmUp = Math.max(whole / 3, Math.min(300, whole / 2))
  return life.filter(({ seconds }) => seconds >= warmUp)
}

function growthOf(lives: readonly (readonly Sample[])[], name: Steady, slope: number): readonly string[] {
  const span = median(lives.map((life) => (life.at(-1)?.seconds ?? 0) - (life[0]?.seconds ?? 0)))
  const level = median(lives.map((life) => median(life.map((sample) => sample[name]))))
  const { by, share } = MAY_GROW[name]
  const growth = slope * span
  if (growth <= Math.max(by, share * level)) return []
  return [`${name} grew by ${growth.toFixed(1)} in ${span.toFixed(0)} s, from about ${level.toFixed(0)}`]
}

/** What a life adds is removed in the next one, which is days later; its room is used again. */
function fileGrowth(lives: readonly (readonly Sample[])[], ends: readonly number[]): readonly string[] {
  const [before, last] = ends.slice(-2)
  if (ends.length < 3 || before === undefined || last === undefined) return []
  const added = (ends[0] ?? 0) - (lives[0]?.[0]?.fileMiB ?? 0)
  const allowed = Math.max(1, KEPT_SHARE * added)
  if (last - before <= allowed) return []
  return [
    `the file grew by ${(last - before).toFixed(1)} MiB in the last life, by ${added.toFixed(1)} MiB in the first`,
  ]
}

/** A second, of the medians of the windows. */
function slopeOf(life: readonly Sample[], name: Steady): number {
  const windows = Array.from({ length: WINDOWS }, (_, n) =>
    life.slice(Math.floor((n * life.length) / WINDOWS), Math.floor(((n + 1) * life.length) / WINDOWS)),
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

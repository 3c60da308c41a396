import type { RunSummary } from '../client/resources.ts'

/** The last hour, from the newest runs. */
export interface Trends {
  readonly runs: number
  readonly failed: number
  readonly tokens: number
  readonly p95: number | undefined // milliseconds
  readonly runsOverTime: readonly number[]
  readonly failedOverTime: readonly number[]
  readonly tokensOverTime: readonly number[]
  readonly durations: readonly number[]
  /** More runs than these may have been created in the last hour. */
  readonly isPartial: boolean
}

const HOUR_MS = 3_600_000
const BUCKETS = 30
const MIN_PARTIAL = 200

export function trendsOf(runs: readonly RunSummary[], now: number): Trends {
  const from = now - HOUR_MS
  const recent = runs.filter(({ createdAt }) => Date.parse(createdAt) >= from)
  const bucketOf = ({ createdAt }: RunSummary) =>
    Math.min(BUCKETS - 1, Math.max(0, Math.floor(((Date.parse(createdAt) - from) / HOUR_MS) * BUCKETS)))
  const sums = (amountOf: (run: RunSummary) => number): readonly number[] => {
    const buckets = Array.from({ length: BUCKETS }, () => 0)
    for (const run of recent) buckets[bucketOf(run)] = (buckets[bucketOf(run)] ?? 0) + amountOf(run)
    return buckets
  }
  const tokensOf = ({ usage }: RunSummary) => usage.inputTokens + usage.outputTokens
  const isFailed = ({ status }: RunSummary) => (status === 'failed' ? 1 : 0)
  const durations = recent.flatMap(({ startedAt, completedAt }) =>
    startedAt === undefined || completedAt === undefined ? [] : [Date.parse(completedAt) - Date.parse(startedAt)],
  )
  const sorted = [...durations].sort((a, b) => a - b)
  return {
    runs: recent.length,
    failed: recent.filter(isFailed).length,
    tokens: recent.reduce((sum, run) => sum + tokensOf(run), 0),
    p95: sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))],
    runsOverTime: sums(() => 1),
    failedOverTime: sums(isFailed),
    tokensOverTime: sums(tokensOf),
    durations: durations.slice(0, BUCKETS).reverse(),
    isPartial: recent.length === runs.length && runs.length >= MIN_PARTIAL,
  }
}

import type { MetricSeries } from '@perdure/ports'
import { METRICS, type MetricSpec } from '@perdure/protocol'

/** The metrics at one moment. Keys name a metric, and a value of its label if it is kept per value. */
export interface MetricTotals {
  readonly atMs: number // monotonic
  readonly counters: ReadonlyMap<string, number>
  readonly gauges: ReadonlyMap<string, number>
  /** The cumulative counts of each histogram, by upper bound. */
  readonly histograms: ReadonlyMap<string, ReadonlyMap<number, number>>
}

/** Labels with few values. A metric with one of them is kept per value, any other as the sum. */
const SPLIT_BY = ['status', 'outcome', 'kind', 'direction', 'transport', 'state', 'phase']
/** They say when the server was started and which release it is, and never change otherwise. */
const LEFT_OUT = new Set(['svc_build_info', 'svc_uptime_seconds'])
const BUCKET = '_bucket'
const MINUTE_MS = 60_000
const QUANTILE = 0.95

export function totalsOf(series: readonly MetricSeries[], atMs: number): MetricTotals {
  const counters = new Map<string, number>()
  const gauges = new Map<string, number>()
  const histograms = new Map<string, Map<number, number>>()
  for (const one of series) {
    const histogram = one.name.endsWith(BUCKET) ? one.name.slice(0, -BUCKET.length) : ''
    if (histogram in METRICS) histograms.set(histogram, withBucket(histograms.get(histogram), one))
    const spec: MetricSpec | undefined = METRICS[one.name as keyof typeof METRICS]
    if (spec === undefined || LEFT_OUT.has(one.name)) continue
    const into = spec.type === 'counter' ? counters : gauges
    const key = keyOf(one)
    into.set(key, (into.get(key) ?? 0) + one.value)
  }
  return { atMs, counters, gauges, histograms }
}

const withBucket = (counts = new Map<number, number>(), { labels: { le }, value }: MetricSeries) => {
  const bound = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le)
  return counts.set(bound, (counts.get(bound) ?? 0) + value)
}

function keyOf({ name, labels }: MetricSeries): string {
  const by = SPLIT_BY.find((label) => labels[label] !== undefined)
  // The HTTP status has many values, and the number of requests is what a chart should show.
  return by === undefined || name === 'svc_http_requests_total' ? name : `${name} ${labels[by]}`
}

/** The values of a sample: gauges, increases of counters per minute, and percentiles since the sample before. */
export function valuesBetween(before: MetricTotals | undefined, now: MetricTotals): ReadonlyMap<string, number> {
  if (before === undefined) return now.gauges
  const minutes = (now.atMs - before.atMs) / MINUTE_MS
  // A series that is new has counted everything since the sample before.
  const rates = [...now.counters].map(
    ([key, count]) => [key, (count - (before.counters.get(key) ?? 0)) / minutes] as const,
  )
  const percentiles = [...now.histograms].flatMap(([name, counts]) => {
    const percentile = quantileOf(counts, before.histograms.get(name) ?? new Map())
    return percentile === undefined ? [] : [[name, percentile] as const]
  })
  return new Map([...now.gauges, ...rates, ...percentiles])
}

/** An upper bound of the quantile of what was observed between two readings; `undefined` if nothing was. */
function quantileOf(now: ReadonlyMap<number, number>, before: ReadonlyMap<number, number>): number | undefined {
  const counts = [...now].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)] as const)
  counts.sort(([one], [other]) => one - other)
  const all = counts.at(-1)?.[1] ?? 0
  if (all === 0) return undefined
  const at = counts.findIndex(([, count]) => count >= all * QUANTILE)
  const bound = counts[at]?.[0] ?? 0
  // Of the bucket without an upper bound, only the lower bound is known.
  return Number.isFinite(bound) ? bound : (counts[at - 1]?.[0] ?? 0)
}

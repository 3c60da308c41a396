import type { Daemon } from '@perdure/core'
import type { Clock, Logger, MetricSeries, Timers } from '@perdure/ports'
import { METRICS, type MetricHistory, type MetricSpec } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import { type MetricTotals, totalsOf, valuesBetween } from './metric-totals.ts'

type History = InferOutput<typeof MetricHistory>
type Measure = History['series'][number]['measure']

export interface MetricHistoryDeps {
  readonly readSeries: () => Promise<readonly MetricSeries[]>
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
}

const INTERVAL_MS = 15_000
/** One hour. */
const KEPT = 240
const MAX_SERIES_PER_METRIC = 8

interface Sample {
  readonly at: number
  readonly values: ReadonlyMap<string, number>
}

/** Keeps the metrics of the last hour in memory, in a ring of samples. */
export function createMetricHistory({ readSeries, clock, timers, logger }: MetricHistoryDeps) {
  const samples: Sample[] = []
  let totals: MetricTotals | undefined
  let cancel = () => {}

  const sample = async () => {
    const next = totalsOf(await readSeries(), clock.monotonicMs())
    samples.push({ at: clock.now(), values: valuesBetween(totals, next) })
    totals = next
    if (samples.length > KEPT) samples.shift()
  }

  const tick = () => {
    cancel = timers.after(INTERVAL_MS, tick)
    sample().catch((error) => logger.error('the metrics of the console were not sampled', error))
  }

  const daemon: Daemon = {
    name: 'metric-history',
    start: tick,
    stop: async () => cancel(),
  }

  const read = (): History => {
    const keys = [...new Set(samples.flatMap(({ values }) => [...values.keys()]))].sort()
    return {
      intervalMs: INTERVAL_MS,
      times: samples.map(({ at }) => new Date(at).toISOString()),
      series: Object.entries<MetricSpec>(METRICS).flatMap(([metric, { type }]) =>
        keys
          .filter((key) => key.split(' ', 1)[0] === metric)
          .slice(0, MAX_SERIES_PER_METRIC)
          .map((key) => ({
            metric,
            label: key.slice(metric.length + 1),
            measure: MEASURES[type],
            values: samples.map(({ values }) => values.get(key) ?? null),
          })),
      ),
    }
  }
  return { daemon, read }
}

const MEASURES: Readonly<Record<MetricSpec['type'], Measure>> = {
  counter: 'per-minute',
  gauge: 'value',
  histogram: 'p95',
}

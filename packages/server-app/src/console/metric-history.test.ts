import type { MetricSeries } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createMetricHistory } from './metric-history.ts'

const INTERVAL_MS = 15_000
const logger = { debug() {}, info() {}, warn() {}, error() {} }

const one = (name: string, value: number, labels: Readonly<Record<string, string>> = {}): MetricSeries => ({
  ...{ name, labels, value },
})

/** A history with these samples; the last one is repeated. */
async function historyOf(...samples: ReadonlyArray<readonly MetricSeries[]>) {
  const clock = createManualClock()
  let reads = 0
  const readSeries = async () => samples[Math.min(reads++, samples.length - 1)] ?? []
  const history = createMetricHistory({ readSeries, clock, timers: clock, logger })
  const sample = async () => {
    clock.advance(INTERVAL_MS)
    await Promise.resolve()
    await new Promise(setImmediate)
  }
  history.daemon.start()
  await new Promise(setImmediate)
  for (let n = 1; n < samples.length; n++) await sample()
  return { ...history, sample }
}

const valuesOf = ({ series }: { readonly series: readonly { metric: string; label: string; values: unknown }[] }) =>
  Object.fromEntries(series.map(({ metric, label, values }) => [`${metric} ${label}`.trim(), values]))

describe('createMetricHistory', () => {
  it('keeps gauges as values, and counters as their increase per minute, summed over labels with many values', async () => {
    const { read } = await historyOf(
      [one('svc_queued_runs', 3), one('svc_agent_runs_total', 1, { agent: 'a', status: 'failed' })],
      [
        one('svc_queued_runs', 5),
        one('svc_agent_runs_total', 2, { agent: 'a', status: 'failed' }),
        one('svc_agent_runs_total', 1, { agent: 'b', status: 'failed' }),
      ],
    )

    expect(read().times).toHaveLength(2)
    expect(valuesOf(read())).toEqual({ svc_queued_runs: [3, 5], 'svc_agent_runs_total failed': [null, 8] })
  })

  it('keeps the 95th percentile of what a histogram observed between two samples', async () => {
    const buckets = (counts: readonly number[]) =>
      ['0.5', '1', '+Inf'].map((le, at) => one('svc_storage_commit_duration_seconds_bucket', counts[at] ?? 0, { le }))
    const { read } = await historyOf(buckets([100, 100, 100]), buckets([102, 120, 120]), buckets([102, 120, 140]))

    expect(valuesOf(read())).toEqual({ svc_storage_commit_duration_seconds: [null, 1, 1] })
  })

  it('reports no percentile for an interval in which nothing was observed', async () => {
    const sample = [one('svc_storage_commit_duration_seconds_bucket', 4, { le: '+Inf' })]
    const { read } = await historyOf(sample, sample)

    expect(read().series).toEqual([])
  })

  it('keeps one hour, and at most eight series of a metric', async () => {
    const states = Array.from({ length: 20 }, (_, n) => one('svc_storage_connections', n, { state: `s${n}` }))
    const { read, sample } = await historyOf(states)
    for (let n = 0; n < 250; n++) await sample()

    expect(read().times).toHaveLength(240)
    expect(read().series).toHaveLength(8)
    expect(read().series[0]?.values).toHaveLength(240)
  })

  it('takes no sample after it was stopped', async () => {
    const { read, daemon, sample } = await historyOf([one('svc_queued_runs', 1)])
    await daemon.stop()
    await sample()

    expect(read().times).toHaveLength(1)
  })
})

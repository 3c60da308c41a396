import { createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createMetricHistory } from './metric-history.ts'
import { parseExposition } from './parse-exposition.ts'

const INTERVAL_MS = 15_000
const logger = { debug() {}, info() {}, warn() {}, error() {} }

/** A history whose metrics are these texts, one per sample; the last one is repeated. */
async function historyOf(...texts: readonly string[]) {
  const clock = createManualClock()
  let reads = 0
  const readMetrics = async () => ({ contentType: '', text: texts[Math.min(reads++, texts.length - 1)] ?? '' })
  const history = createMetricHistory({ readMetrics, clock, timers: clock, logger })
  const sample = async () => {
    clock.advance(INTERVAL_MS)
    await Promise.resolve()
    await new Promise(setImmediate)
  }
  history.daemon.start()
  await new Promise(setImmediate)
  for (let n = 1; n < texts.length; n++) await sample()
  return { ...history, sample }
}

const valuesOf = ({ series }: { readonly series: readonly { metric: string; label: string; values: unknown }[] }) =>
  Object.fromEntries(series.map(({ metric, label, values }) => [`${metric} ${label}`.trim(), values]))

describe('createMetricHistory', () => {
  it('keeps gauges as values, and counters as their increase per minute, summed over labels with many values', async () => {
    const { read } = await historyOf(
      'svc_queued_runs 3\nsvc_agent_runs_total{agent="a",status="failed"} 1',
      'svc_queued_runs 5\nsvc_agent_runs_total{agent="a",status="failed"} 2\nsvc_agent_runs_total{agent="b",status="failed"} 1',
    )

    expect(read().times).toHaveLength(2)
    expect(valuesOf(read())).toEqual({ svc_queued_runs: [3, 5], 'svc_agent_runs_total failed': [null, 8] })
  })

  it('keeps the 95th percentile of what a histogram observed between two samples', async () => {
    const buckets = (counts: readonly number[]) =>
      ['0.5', '1', '+Inf']
        .map((le, at) => `svc_storage_commit_duration_seconds_bucket{le="${le}"} ${counts[at]}`)
        .join('\n')
    const { read } = await historyOf(buckets([100, 100, 100]), buckets([102, 120, 120]), buckets([102, 120, 140]))

    expect(valuesOf(read())).toEqual({ svc_storage_commit_duration_seconds: [null, 1, 1] })
  })

  it('reports no percentile for an interval in which nothing was observed', async () => {
    const text = 'svc_storage_commit_duration_seconds_bucket{le="+Inf"} 4'
    const { read } = await historyOf(text, text)

    expect(read().series).toEqual([])
  })

  it('keeps one hour, and at most eight series of a metric', async () => {
    const states = Array.from({ length: 20 }, (_, n) => `svc_storage_connections{state="s${n}"} ${n}`).join('\n')
    const { read, sample } = await historyOf(states)
    for (let n = 0; n < 250; n++) await sample()

    expect(read().times).toHaveLength(240)
    expect(read().series).toHaveLength(8)
    expect(read().series[0]?.values).toHaveLength(240)
  })

  it('takes no sample after it was stopped', async () => {
    const { read, daemon, sample } = await historyOf('svc_queued_runs 1')
    await daemon.stop()
    await sample()

    expect(read().times).toHaveLength(1)
  })
})

describe('parseExposition', () => {
  it('reads names, escaped labels and values', () => {
    expect(parseExposition('# TYPE a counter\na{b="x\\"y\\\\z\\n",c="1"} 2.5\nd +Inf\n\nword')).toEqual([
      { name: 'a', labels: { b: 'x"y\\z\n', c: '1' }, value: 2.5 },
      { name: 'd', labels: {}, value: Number.POSITIVE_INFINITY },
    ])
  })
})

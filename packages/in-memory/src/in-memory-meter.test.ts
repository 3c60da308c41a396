import { describe, expect, it } from 'vitest'
import { createInMemoryMeter } from './in-memory-meter.ts'

describe('createInMemoryMeter', () => {
  it('adds to counters, sets gauges and sums observations', () => {
    const meter = createInMemoryMeter()

    meter.count('svc_tool_calls_total', { tool: 'search', outcome: 'ok' })
    meter.count('svc_tool_calls_total', { tool: 'search', outcome: 'ok' }, 2)
    meter.gauge('svc_queued_runs', {}, 3)
    meter.gauge('svc_queued_runs', {}, 1)
    meter.observe('svc_run_duration_seconds', { kind: 'agent' }, 2)
    meter.observe('svc_run_duration_seconds', { kind: 'agent' }, 5)

    expect(Object.fromEntries(meter.values)).toEqual({
      'svc_tool_calls_total{tool="search",outcome="ok"}': 3,
      svc_queued_runs: 1,
      'svc_run_duration_seconds_sum{kind="agent"}': 7,
      'svc_run_duration_seconds_count{kind="agent"}': 2,
    })
  })
})

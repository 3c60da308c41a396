import { METRICS, type MetricSpec } from '@perdure/protocol'
import { Registry, register } from '@prometheus-io/client'
import { describe, expect, it, vi } from 'vitest'
import { createPrometheusMeter } from './prometheus-meter.ts'

const linesOf = async (meter: ReturnType<typeof createPrometheusMeter>) => (await meter.expose()).text.split('\n')

const observeModel = (meter: ReturnType<typeof createPrometheusMeter>) => {
  const labels = {
    ...{ gen_ai_operation_name: 'chat', gen_ai_provider_name: 'openai' },
    ...{ gen_ai_request_model: 'm', gen_ai_response_model: 'm' },
  }
  meter.observe('gen_ai_client_operation_duration_seconds', { ...labels, error_type: '' }, 1)
  meter.observe('gen_ai_client_token_usage', { ...labels, gen_ai_token_type: 'input' }, 5)
}

describe('createPrometheusMeter', () => {
  it('lists every metric of the table with its type and help', async () => {
    const meter = createPrometheusMeter()
    observeModel(meter)
    const lines = await linesOf(meter)

    for (const [name, { type, help }] of Object.entries<MetricSpec>(METRICS)) {
      expect(lines).toContain(`# TYPE ${name} ${type}`)
      expect(lines).toContain(`# HELP ${name} ${help}`)
    }
  })

  it('returns the series with the labels and buckets that it exposes', async () => {
    const meter = createPrometheusMeter()
    meter.gauge('svc_queued_runs', {}, 3)
    meter.count('svc_agent_runs_total', { agent: 'a "b"', status: 'failed' })
    meter.observe('svc_storage_commit_duration_seconds', {}, 0.02)

    const series = await meter.series()

    expect(series).toContainEqual({ name: 'svc_queued_runs', labels: {}, value: 3 })
    expect(series).toContainEqual({
      name: 'svc_agent_runs_total',
      labels: { agent: 'a "b"', status: 'failed' },
      value: 1,
    })
    const name = 'svc_storage_commit_duration_seconds_bucket'
    expect(series).toContainEqual({ name, labels: { le: '+Inf' }, value: 1 })
  })

  it('lists the metrics of other conventions only once they have a value', async () => {
    const { text } = await createPrometheusMeter().expose()
    expect(text.match(/^(?!#|$|svc_).*$|^# \w+ (?!svc_).*$/gm)).toBeNull()
  })

  it('adds to counters, sets gauges and fills histogram buckets', async () => {
    const meter = createPrometheusMeter()

    meter.count('svc_tool_calls_total', { tool: 'search', outcome: 'ok' })
    meter.count('svc_tool_calls_total', { tool: 'search', outcome: 'ok' }, 2)
    meter.gauge('svc_queued_runs', {}, 3)
    meter.gauge('svc_queued_runs', {}, 1)
    meter.observe('svc_run_duration_seconds', { kind: 'agent' }, 2)
    const lines = await linesOf(meter)

    expect(lines).toContain('svc_tool_calls_total{tool="search",outcome="ok"} 3')
    expect(lines).toContain('svc_queued_runs 1')
    expect(lines).toContain('svc_run_duration_seconds_bucket{le="1",kind="agent"} 0')
    expect(lines).toContain('svc_run_duration_seconds_bucket{le="5",kind="agent"} 1')
    expect(lines).toContain('svc_run_duration_seconds_sum{kind="agent"} 2')
  })

  it('counts every update, however many arrive between two scrapes', async () => {
    const meter = createPrometheusMeter()
    for (const count of [1_000, 255, 256]) {
      for (let n = 0; n < count; n++) meter.count('svc_tool_calls_total', { tool: 'search', outcome: 'ok' })
      meter.observe('svc_run_duration_seconds', { kind: 'agent' }, 2)
      meter.gauge('svc_queued_runs', {}, count)
      await meter.expose()
    }

    expect(await linesOf(meter)).toEqual(
      expect.arrayContaining([
        'svc_tool_calls_total{tool="search",outcome="ok"} 1511',
        'svc_run_duration_seconds_count{kind="agent"} 3',
        'svc_queued_runs 256',
      ]),
    )
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1])('ignores the increment %s of a counter', async (by) => {
    const meter = createPrometheusMeter()

    meter.count('svc_provider_cost_usd_total', { provider: 'p', model: 'm' }, by)

    expect((await meter.expose()).text).not.toContain('svc_provider_cost_usd_total{')
  })

  it('escapes characters that would break a line', async () => {
    const meter = createPrometheusMeter()

    meter.count('svc_tool_calls_total', { tool: 'a"b\\c\nd', outcome: 'ok' })

    expect(await linesOf(meter)).toContain('svc_tool_calls_total{tool="a\\"b\\\\c\\nd",outcome="ok"} 1')
  })

  it('renders every series with its current value at each scrape', async () => {
    const meter = createPrometheusMeter()
    meter.count('svc_tool_calls_total', { tool: 'a', outcome: 'ok' })
    meter.gauge('svc_queued_runs', {}, 1)
    await meter.expose()

    meter.count('svc_tool_calls_total', { tool: 'a', outcome: 'ok' })
    meter.count('svc_tool_calls_total', { tool: 'b', outcome: 'ok' })
    meter.gauge('svc_queued_runs', {}, 2)
    const lines = await linesOf(meter)

    const series = (name: string) => lines.filter((line) => line.startsWith(name))
    expect(series('svc_tool_calls_total')).toEqual([
      'svc_tool_calls_total{tool="a",outcome="ok"} 2',
      'svc_tool_calls_total{tool="b",outcome="ok"} 1',
    ])
    expect(series('svc_queued_runs')).toEqual(['svc_queued_runs 2'])
  })

  it('renders the same text as the library', async () => {
    const meter = createPrometheusMeter()
    observeModel(meter)
    meter.count('svc_tool_calls_total', { tool: 'a"b\\c\nd', outcome: 'ok' }, 1.5)
    meter.gauge('svc_uptime_seconds', {}, 1e21)
    const shared = { provider: 'p', model: 'm' }
    meter.count('svc_provider_cost_usd_total', shared, Number.MAX_VALUE)
    meter.count('svc_provider_cost_usd_total', shared, Number.MAX_VALUE)
    meter.count('svc_provider_tokens_total', { ...shared, direction: 'input' }, 7)
    meter.observe('svc_run_duration_seconds', { kind: 'agent' }, 2)
    const metrics = vi.spyOn(Registry.prototype, 'getSingleMetricAsString')

    const { text } = await meter.expose()

    const registry = metrics.mock.contexts[0] as Registry
    expect(text).toBe(await registry.metrics())
  })

  it('reports the content type of its format', async () => {
    expect((await createPrometheusMeter().expose()).contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
  })

  it('shares no state with another meter or the global registry', async () => {
    createPrometheusMeter().count('svc_rate_limited_total', {})

    expect(await linesOf(createPrometheusMeter())).toContain('svc_rate_limited_total 0')
    expect(register.getMetricsAsArray()).toEqual([])
  })
})

import { createInMemoryMeter } from '@perdure/in-memory'
import { EVERY_ROW, type RunRecord } from '@perdure/ports'
import { aRun, BUILT_AT } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, gate, outcomeOf, untilIdle, workflowOf } from '../../engine/test-engine.fixture.ts'
import type { RunCode } from '../../targets/agent.ts'
import { createRunMeter } from './run-meter.ts'

type Code = RunCode

/** An engine with one agent, and the metrics that its runs changed. */
function metered(code: Code) {
  const meter = createInMemoryMeter()
  const engine = createTestEngine({ agents: [agentOf('task', code)], meter })
  const metrics = (prefix: string) =>
    Object.fromEntries([...meter.values].filter(([series]) => series.startsWith(prefix)))
  return { engine, meter, metrics }
}

describe('the meter of ended runs', () => {
  it('counts a failed run under the status that its answer and its record have', async () => {
    const { engine, metrics } = metered(() => Promise.reject(new Error('no')))

    const { runId, status } = outcomeOf(await engine.run('task'))

    expect([status, (await engine.find(runId))?.status]).toEqual(['failed', 'failed'])
    expect(metrics('svc_agent_runs_total')).toEqual({ 'svc_agent_runs_total{agent="task",status="failed"}': 1 })
  })

  it('counts an aborted run once, with the duration since its start', async () => {
    const open = gate()
    const { engine, metrics } = metered(() => open.promise)
    const { runId } = outcomeOf(await engine.run('task', { answer: 'accepted' }))
    engine.clock.advance(2_500)

    await engine.abortRun({ runId, visibility: EVERY_ROW })
    open.resolve()
    await untilIdle()

    expect(metrics('svc_agent_runs_total')).toEqual({ 'svc_agent_runs_total{agent="task",status="aborted"}': 1 })
    expect(metrics('svc_run_duration')).toEqual({
      'svc_run_duration_seconds_sum{kind="agent"}': 2.5,
      'svc_run_duration_seconds_count{kind="agent"}': 1,
    })
  })

  it('counts a workflow run when it ends, not when it is suspended', async () => {
    const meter = createInMemoryMeter()
    const nap = workflowOf('nap', (_, { sleep }) => sleep('z', 1_000))
    const engine = createTestEngine({ workflows: [nap], meter })
    await engine.start()
    await engine.execute('nap')
    await engine.advance(0)
    expect([...meter.values.keys()]).toEqual([])

    await engine.advance(1_000)

    expect(meter.values.get('svc_workflow_runs_total{workflow="nap",status="completed"}')).toBe(1)
  })

  it('counts runs of unregistered targets under one label', () => {
    const meter = createInMemoryMeter()
    const ended: RunRecord = { ...aRun({ targetId: 'gone' }), status: 'failed', completedAt: BUILT_AT }

    createRunMeter(meter, () => false).ended(ended)

    expect([...meter.values]).toEqual([['svc_agent_runs_total{agent="unregistered",status="failed"}', 1]])
  })
})

describe('the meter of tools and models', () => {
  it('counts tool calls by outcome', async () => {
    const { engine, metrics } = metered(async (_, { tool }) => {
      await tool({ name: 'search', execute: () => 1 })
      await tool({ name: 'search', execute: () => Promise.reject(new Error('no')) })
    })

    await engine.run('task')

    expect(metrics('svc_tool_calls_total')).toEqual({
      'svc_tool_calls_total{tool="search",outcome="ok"}': 1,
      'svc_tool_calls_total{tool="search",outcome="execution_failed"}': 1,
    })
  })

  it('counts tokens by direction, and cost', async () => {
    const { engine, metrics } = metered((_, { usage }) =>
      usage({ provider: 'p', model: 'm', inputTokens: 5, outputTokens: 7, costUsd: 0.25 }),
    )

    await engine.run('task')

    expect(metrics('svc_provider')).toEqual({
      'svc_provider_tokens_total{provider="p",model="m",direction="input"}': 5,
      'svc_provider_tokens_total{provider="p",model="m",direction="output"}': 7,
      'svc_provider_cost_usd_total{provider="p",model="m"}': 0.25,
    })
  })

  it('limits the number of label values that code can create', () => {
    const meter = createInMemoryMeter()
    const { toolCalled } = createRunMeter(meter, () => false)

    for (let n = 0; n < 1_000; n++) toolCalled(`tool-${n}`, 'ok')
    toolCalled('tool-0', 'ok')

    expect(meter.values.size).toBe(201)
    expect(meter.values.get('svc_tool_calls_total{tool="tool-0",outcome="ok"}')).toBe(2)
    expect(meter.values.get('svc_tool_calls_total{tool="other",outcome="ok"}')).toBe(800)
  })
})

describe('readLoad', () => {
  it('counts executing runs by kind, and queued runs', async () => {
    const open = gate()
    const engine = createTestEngine({ agents: [agentOf('slow', () => open.promise)], concurrency: 2 })
    expect(engine.readLoad()).toEqual({ executing: { agent: 0, workflow: 0 }, queued: 0 })

    for (let n = 0; n < 3; n++) await engine.run('slow', { answer: 'accepted' })
    expect(engine.readLoad()).toEqual({ executing: { agent: 2, workflow: 0 }, queued: 1 })

    open.resolve()
    await untilIdle(engine.clock)
    expect(engine.readLoad()).toEqual({ executing: { agent: 0, workflow: 0 }, queued: 0 })
  })
})

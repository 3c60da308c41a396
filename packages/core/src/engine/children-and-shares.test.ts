import { EVERY_ROW, type RunRecord } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import type { AgentRegistration } from '../targets/agent.ts'
import { agentOf, createTestEngine, type EngineOptions, gate, untilIdle, workflowOf } from './test-engine.fixture.ts'

const BOB = { subject: 'bob', scopes: ['agents:invoke', 'workflows:execute', 'sessions:write:own'] }
const echo = agentOf('echo', async (input) => input)
const parent = (over: Partial<AgentRegistration> = {}) =>
  agentOf('parent', (input, { invoke }) => invoke('echo', input), { onCrash: 'retry', ...over })

function setUp(options: EngineOptions) {
  const engine = createTestEngine({ maxQueued: 1_000, ...options })
  const settle = async () => {
    for (let round = 0; round < 40; round++) await untilIdle(engine.clock)
  }
  const start = async (count: number, over: Parameters<typeof engine.run>[1] = {}) => {
    for (let n = 0; n < count; n++) await engine.run('parent', { answer: 'accepted', body: { input: n }, ...over })
  }
  const statuses = async (targetId: string) => {
    const { items } = await engine.storage.runs.list({ targetId }, { limit: 200, order: 'asc' }, EVERY_ROW)
    return Object.fromEntries(
      [...Map.groupBy(items, (run: RunRecord) => run.status)].map(([key, of]) => [key, of.length]),
    )
  }
  return { ...engine, settle, start, statuses }
}

describe('a parent that waits for its child while its subject holds its share of the slots', () => {
  it.each([
    { concurrency: 1, maxShare: 1 },
    { concurrency: 1, maxShare: 0.5 },
    { concurrency: 4, maxShare: 0.5 },
    { concurrency: 16, maxShare: 0.1 },
  ])('completes when the parents take every slot: $concurrency slots, a share of $maxShare', async (limits) => {
    const { start, settle, statuses } = setUp({ ...limits, agents: [echo, parent()] })

    await start(40)
    await settle()

    expect([await statuses('parent'), await statuses('echo')]).toEqual([{ completed: 40 }, { completed: 40 }])
  })

  it('completes while runs of another subject hold the other slots', async () => {
    const open = gate()
    const slow = agentOf('slow', () => open.promise)
    const { run, start, settle, statuses } = setUp({ concurrency: 4, maxShare: 0.5, agents: [echo, parent(), slow] })
    await start(1)
    for (let n = 0; n < 4; n++) await run('slow', { answer: 'accepted', principal: BOB })

    await start(20)
    await settle()
    expect([await statuses('parent'), await statuses('slow')]).toEqual([{ completed: 21 }, { queued: 1, running: 3 }])
    open.resolve()
    await settle()

    expect(await statuses('slow')).toEqual({ completed: 4 })
  })

  it('completes when parent and child are runs of the same agent that executes one run at a time', async () => {
    const nested = agentOf('nested', async (input, { invoke }) => (input === 0 ? 'end' : invoke('nested', 0)), {
      ...{ onCrash: 'retry', concurrency: 'single', onBusy: 'queue' },
    })
    const { run, settle, statuses } = setUp({ concurrency: 2, maxShare: 0.5, agents: [nested] })

    for (let n = 0; n < 5; n++) await run('nested', { answer: 'accepted', body: { input: 1 } })
    await settle()

    expect(await statuses('nested')).toEqual({ completed: 10 })
  })

  it('completes with children that have children, and with a queue that is full', async () => {
    const tree = agentOf(
      'tree',
      async (depth, { invoke }) => {
        if (depth === 0) return 1
        const counts = await Promise.all([0, 1].map(() => invoke('tree', Number(depth) - 1)))
        return counts.reduce<number>((sum, count) => sum + Number(count), 1)
      },
      { onCrash: 'retry' },
    )
    const { run, settle, statuses } = setUp({ concurrency: 2, maxShare: 0.5, maxQueued: 1, agents: [tree] })

    await run('tree', { answer: 'accepted', body: { input: 4 } })
    await settle()

    expect(await statuses('tree')).toEqual({ completed: 31 })
  })

  it('completes when the parent is a workflow that also waits for other work', async () => {
    const work = gate()
    const flow = workflowOf('flow', (input, { invoke }) => Promise.all([invoke('echo', input), work.promise]))
    const { execute, settle, statuses } = setUp({ concurrency: 2, maxShare: 0.5, agents: [echo], workflows: [flow] })

    for (let n = 0; n < 2; n++) await execute('flow', { body: { input: n } })
    await settle()
    work.resolve()
    await settle()

    expect([await statuses('flow'), await statuses('echo')]).toEqual([{ completed: 2 }, { completed: 2 }])
  })
})

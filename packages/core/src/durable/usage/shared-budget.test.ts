import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW } from '@perdure/ports'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, outcomeOf, untilIdle } from '../../engine/test-engine.fixture.ts'
import type { RunContext } from '../../targets/run-context.ts'
import {
  agents,
  commitsOf,
  count,
  expectWithin,
  type Op,
  type Plan,
  plans,
  runFamily,
  spentBy,
} from './shared-budget.fixture.ts'

const parallelChildren = (...children: readonly (readonly Op[])[]): Op => ({
  op: 'parallel',
  ops: children.map((ops) => ({ op: 'child', ops })),
})
const IMMEDIATE = { turns: [0], crashes: [] }
const usage = (tokens: number): Op => ({ op: 'usage', tokens })

describe('the budget of a run', () => {
  it('limits the total usage of children that run in parallel', async () => {
    const ops = [parallelChildren(Array(9).fill(usage(10)), Array(9).fill(usage(10)), Array(9).fill(usage(10)))]
    const family = await runFamily({ ops, budget: { tokens: 60 }, ...IMMEDIATE })

    expect(spentBy(family)).toBeLessThanOrEqual(80)
    expect(family.runs.map(({ finishReason }) => finishReason)).toEqual(Array(4).fill('budget-exhausted'))
  })

  it('limits the total tool calls of children that run in parallel', async () => {
    const tools = Array<Op>(9).fill({ op: 'tool' })
    const family = await runFamily({
      ops: [parallelChildren(tools, tools, tools)],
      budget: { toolCalls: 5 },
      ...IMMEDIATE,
    })

    expect(count(family, 'tool.execute.start')).toBe(5)
    expect(family.runs.slice(1).reduce((sum, run) => sum + run.usage.toolCalls, 0)).toBe(5)
    expect(family.runs.map(({ finishReason }) => finishReason)).toEqual(Array(4).fill('budget-exhausted'))
  })

  it('ends parent and child on a tool call beyond the limit, not on the last allowed call', async () => {
    const tools = (calls: number): Op => ({ op: 'child', ops: Array<Op>(calls).fill({ op: 'tool' }) })
    const endsOf = async (calls: number) =>
      (await runFamily({ ops: [tools(calls)], budget: { toolCalls: 2 }, ...IMMEDIATE })).runs.map(
        (run) => run.finishReason,
      )

    expect(await endsOf(2)).toEqual(['completed', 'completed'])
    expect(await endsOf(3)).toEqual(['budget-exhausted', 'budget-exhausted'])
  })

  it('lets queued children use nothing once it is exhausted', async () => {
    const storage = createInMemoryStorage()
    const engine = createTestEngine({ storage, agents, concurrency: 1 })
    const ops = [parallelChildren([usage(60)], [usage(10)], [usage(10)])]
    await engine.run('node', { body: { input: ops, budget: { tokens: 60 } }, answer: 'accepted' })
    for (let round = 0; round < 9; round++) await untilIdle(engine.clock)

    const { items } = await storage.runs.list({ kind: 'agent' }, { limit: 9, order: 'asc' }, EVERY_ROW)
    expect(items.map(({ usage: { inputTokens } }) => inputTokens)).toEqual([60, 60, 0, 0])
  })

  it('ends the top-level run even if its child has used up another budget later', async () => {
    const storage = createInMemoryStorage()
    const engine = createTestEngine({ storage, agents, concurrency: 1 })
    const tools = Array<Op>(3).fill({ op: 'tool' })
    const ops: readonly Op[] = [{ op: 'child', ops: [parallelChildren(tools, [usage(60)])], agent: 'frugal' }]
    await engine.run('node', { body: { input: ops, budget: { toolCalls: 2 } }, answer: 'accepted' })
    for (let round = 0; round < 9; round++) await untilIdle(engine.clock)

    const { items } = await storage.runs.list({ kind: 'agent' }, { limit: 9, order: 'asc' }, EVERY_ROW)
    const [top, middle, , last] = items
    expect(items.map(({ error }) => error?.budgetOf)).toEqual([top?.id, top?.id, top?.id, middle?.id])
    expect(last).toMatchObject({ usage: { inputTokens: 60 } })
  })

  it('counts the concurrent usage of a parent and its child together', async () => {
    const child: Op = { op: 'child', ops: [usage(30), usage(30)] }
    const parent: Op = { op: 'parallel', ops: [child, usage(50)] }
    const family = await runFamily({ ops: [parent, { op: 'tool' }], budget: { tokens: 100 }, ...IMMEDIATE })

    expect(spentBy(family)).toBe(110)
    expect(count(family, 'tool.execute.start')).toBe(0)
  })

  it('ends only a child that has used up its own budget', async () => {
    const tools = Array<Op>(3).fill({ op: 'tool' })
    const family = await runFamily({
      ops: [{ op: 'child', ops: tools, agent: 'oneTool' }, { op: 'tool' }],
      budget: { toolCalls: 5 },
      ...IMMEDIATE,
    })

    const [parent, child] = family.runs
    expect(child).toMatchObject({ finishReason: 'budget-exhausted', error: { budgetOf: child?.id } })
    expect(parent).toMatchObject({ status: 'completed', usage: { toolCalls: 2 } })
  })

  it('counts the use of a grandchild while it executes, and names the run whose budget is used up', async () => {
    const grandchild: Op = { op: 'child', ops: Array<Op>(9).fill({ op: 'tool' }) }
    const child: Op = { op: 'child', ops: [grandchild], agent: 'threeTools' }
    const family = await runFamily({ ops: [child, { op: 'tool' }], budget: { toolCalls: 9 }, ...IMMEDIATE })

    const [top, middle, bottom] = family.runs
    const blamed = { finishReason: 'budget-exhausted', error: { budgetOf: middle?.id }, usage: { toolCalls: 3 } }
    expect(bottom).toMatchObject(blamed)
    expect(middle).toMatchObject(blamed)
    expect(top).toMatchObject({ status: 'completed', usage: { toolCalls: 4 } })
  })

  it('holds after a crash at each commit', async () => {
    const tools = Array<Op>(3).fill({ op: 'tool' })
    const limited: Op = { op: 'child', ops: [{ op: 'child', ops: tools }], agent: 'threeTools' }
    const ops: readonly Op[] = [{ op: 'parallel', ops: [limited, { op: 'child', ops: tools }, limited] }]
    const commits = await commitsOf({ ops, budget: { toolCalls: 7 }, turns: [1, 0, 2], crashes: [] })
    expect(commits).toBeGreaterThan(20)
    for (let crash = 1; crash <= commits; crash++) {
      const family = await runFamily({ ops, budget: { toolCalls: 7 }, turns: [1, 0, 2], crashes: [crash] })
      expectWithin(family)
      expect(family.runs[0]).toMatchObject({ finishReason: 'budget-exhausted', usage: { toolCalls: 7 } })
    }
  })

  it('does not count recorded tool calls again when the registration retries the run', async () => {
    let tries = 0
    const code = async (_: unknown, { tool }: RunContext) => {
      await tool({ name: 't', execute: () => 1 })
      if (++tries < 3) throw new Error('not yet')
      await tool({ name: 't', execute: () => 2 })
    }
    const retries = { max: 2, jitter: 'none' } as const
    const engine = createTestEngine({ agents: [agentOf('flaky', code, { retries, budget: { toolCalls: 2 } })] })
    await engine.start()
    const answer = engine.run('flaky')
    for (const ms of [0, 60_000, 60_000]) await engine.advance(ms)

    expect(outcomeOf(await answer)).toMatchObject({ status: 'completed', usage: { toolCalls: 2 } })
    expect(tries).toBe(3)
  })

  it('causes no storage reads for a run without children', async () => {
    const readsWith = async (budget: Plan['budget'] | undefined) => {
      let reads = 0
      const counted = <T extends object>(store: T): T =>
        new Proxy(store, {
          get(target, name) {
            reads++
            return Reflect.get(target, name)
          },
        })
      const { runs, steps, ...rest } = createInMemoryStorage()
      const storage = { ...rest, runs: counted(runs), steps: counted(steps) }
      const engine = createTestEngine({ storage, agents })
      await engine.run('node', { body: { input: [usage(10), { op: 'tool' }], budget } })
      return reads
    }

    expect(await readsWith({ tokens: 100, toolCalls: 9 })).toBe(await readsWith(undefined))
  })

  it('limits the usage of random trees of runs in any commit order', () =>
    fc.assert(
      fc.asyncProperty(plans(fc.constant([])), async (plan) => expectWithin(await runFamily(plan))),
      { numRuns: 60 },
    ))

  it('limits the usage of random trees of runs across crashes', () =>
    fc.assert(
      fc.asyncProperty(plans(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 3 })), async (plan) =>
        expectWithin(await runFamily(plan)),
      ),
      { numRuns: 60 },
    ))
})

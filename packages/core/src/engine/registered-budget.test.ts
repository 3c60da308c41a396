import type { RunBudget } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import type { RunContext } from '../targets/agent.ts'
import { agentOf, createTestEngine } from './test-engine.fixture.ts'

const report = (context: RunContext, inputTokens: number) => context.usage({ provider: 'p', model: 'm', inputTokens })

async function endOf(
  registered: RunBudget,
  asked: RunBudget | undefined,
  code: (context: RunContext) => Promise<unknown>,
) {
  const child = agentOf('child', async (_, context) => report(context, 60), { budget: { tokens: 10 } })
  const engine = createTestEngine({
    agents: [agentOf('a', (_, context) => code(context), { budget: registered }), child],
  })
  const { runId = '' } = await engine.run('a', asked === undefined ? {} : { body: { budget: asked } })
  return engine.find(runId)
}

describe('a budget of a registration', () => {
  it.each<[string, RunBudget, RunBudget | undefined, RunBudget]>([
    ['holds a run that brings none', { tokens: 100 }, undefined, { tokens: 100 }],
    [
      'is the most that a request gets',
      { tokens: 100, costUsd: 2 },
      { tokens: 500, costUsd: 1 },
      { tokens: 100, costUsd: 1 },
    ],
    ['leaves what it does not limit to the request', { tokens: 100 }, { toolCalls: 3 }, { tokens: 100, toolCalls: 3 }],
  ])('%s', async (_, registered, asked, budget) => {
    expect((await endOf(registered, asked, async () => 1))?.budget).toEqual(budget)
  })

  it('ends a run that comes over it', async () => {
    const run = await endOf({ tokens: 100 }, undefined, (context) => report(context, 100))

    expect(run).toMatchObject({ status: 'failed', finishReason: 'budget-exhausted' })
  })

  it('counts what runs below it use, which are not held to their own', async () => {
    const once = await endOf({ tokens: 100 }, undefined, (context) => context.agents.run('child'))
    const twice = await endOf({ tokens: 100 }, undefined, async (context) => {
      await context.agents.run('child')
      await context.agents.run('child')
    })

    expect(once).toMatchObject({ status: 'completed', usage: { inputTokens: 60 } })
    expect(twice).toMatchObject({ status: 'failed', finishReason: 'budget-exhausted' })
  })

  it('of time is a deadline', async () => {
    const run = await endOf({ wallClockMs: 5_000 }, { wallClockMs: 9_000 }, async () => 1)

    expect(run?.deadlineAt).toBe((run?.createdAt ?? 0) + 5_000)
  })
})

import type { RunBudget } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import type { RunContext } from '../targets/run-context.ts'
import { agentOf, createTestEngine } from './test-engine.fixture.ts'

const report = (context: RunContext, inputTokens: number) => context.usage({ provider: 'p', model: 'm', inputTokens })

async function finalRunOf(
  registered: RunBudget,
  requested: RunBudget | undefined,
  code: (context: RunContext) => Promise<unknown>,
) {
  const child = agentOf('child', async (_, context) => report(context, 60), { budget: { tokens: 90 } })
  const engine = createTestEngine({
    agents: [agentOf('a', (_, context) => code(context), { budget: registered }), child],
  })
  const { runId = '' } = await engine.run('a', requested === undefined ? {} : { body: { budget: requested } })
  return engine.find(runId)
}

describe('the budget of a registration', () => {
  it.each<[string, RunBudget, RunBudget | undefined, RunBudget]>([
    ['applies to a run whose request has no budget', { tokens: 100 }, undefined, { tokens: 100 }],
    [
      'caps the budget of a request',
      { tokens: 100, costUsd: 2 },
      { tokens: 500, costUsd: 1 },
      { tokens: 100, costUsd: 1 },
    ],
    ['keeps limits that only the request sets', { tokens: 100 }, { toolCalls: 3 }, { tokens: 100, toolCalls: 3 }],
  ])('%s', async (_, registered, requested, budget) => {
    expect((await finalRunOf(registered, requested, async () => 1))?.budget).toEqual(budget)
  })

  it('ends a run that uses up the budget', async () => {
    const run = await finalRunOf({ tokens: 100 }, undefined, (context) => report(context, 100))

    expect(run).toMatchObject({ status: 'failed', finishReason: 'budget-exhausted' })
  })

  it('includes the usage of child runs', async () => {
    const twice = await finalRunOf({ tokens: 100 }, undefined, async (context) => {
      await context.invoke('child')
      await context.invoke('child')
    })

    expect(twice).toMatchObject({ status: 'failed', error: { code: 'budget-exhausted', budgetOf: twice?.id } })
  })

  it('sets a deadline from its maxDuration', async () => {
    const run = await finalRunOf({ maxDuration: 5_000 }, { maxDuration: 9_000 }, async () => 1)

    expect(run?.deadlineAt).toBe((run?.createdAt ?? 0) + 5_000)
  })
})

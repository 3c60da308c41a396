import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  commitsOf,
  expectWithin,
  type Op,
  type Plan,
  plans,
  runFamily,
} from '../packages/core/src/durable/usage/shared-budget.fixture.ts'
import { openSqliteStorage } from '../packages/sqlite/src/index.ts'

async function runOnSqlite(plan: Plan) {
  const storage = await openSqliteStorage({ path: ':memory:' })
  try {
    return await runFamily(plan, storage)
  } finally {
    await storage.close()
  }
}

describe('budgets of a tree of runs on SQLite', () => {
  it('hold after a crash at each commit', async () => {
    const tools = Array<Op>(3).fill({ op: 'tool' })
    const limited: Op = { op: 'child', ops: [{ op: 'child', ops: tools }], agent: 'threeTools' }
    const ops: readonly Op[] = [{ op: 'parallel', ops: [limited, { op: 'child', ops: tools }] }]
    const plan = { ops, budget: { toolCalls: 5 }, turns: [1, 0, 2], crashes: [] }
    const commits = await commitsOf(plan)
    for (let crash = 1; crash <= commits; crash++) {
      const family = await runOnSqlite({ ...plan, crashes: [crash] })
      expectWithin(family)
      expect(family.runs[0]).toMatchObject({ finishReason: 'budget-exhausted', usage: { toolCalls: 5 } })
    }
  }, 120_000)

  it('hold in random trees of runs across crashes', () =>
    fc.assert(
      fc.asyncProperty(plans(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 3 })), async (plan) =>
        expectWithin(await runOnSqlite(plan)),
      ),
      { numRuns: 40 },
    ))
})

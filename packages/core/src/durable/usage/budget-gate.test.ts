import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type Visibility } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { REPAIRER } from '../../engine/forks/fork-run.fixture.ts'
import { agentOf, createTestEngine, untilIdle } from '../../engine/test-engine.fixture.ts'
import { createCrashingStorage } from '../../engine-model/crashing-storage.fixture.ts'
import type { BudgetOptions } from '../../targets/registration.ts'
import type { RunContext } from '../../targets/run-context.ts'

const spend = (context: RunContext, costUsd: number) =>
  context.step('ask the model', () => context.usage({ provider: 'p', model: 'm', costUsd }))

interface Setting {
  readonly budget?: BudgetOptions
  readonly child?: (context: RunContext) => Promise<unknown>
  readonly childBudget?: BudgetOptions
}

/** An engine with the agent `a`, on storage that the next engine of a test can take over. */
function setUp(code: (context: RunContext) => Promise<unknown>, { budget, child, childBudget }: Setting = {}) {
  const shared = { storage: createInMemoryStorage(), clock: createManualClock(), ids: createSequenceIds() }
  const agents = [
    agentOf('a', (_, context) => code(context), {
      ...{ onCrash: 'retry', recoveries: 100 },
      budget: budget ?? { costUsd: 1, onExceeded: 'ask' },
    }),
    agentOf('child', (_, context) => (child ?? code)(context), {
      ...{ onCrash: 'retry' },
      ...(childBudget === undefined ? {} : { budget: childBudget }),
    }),
  ]
  const open = async (storage = shared.storage) => {
    const engine = createTestEngine({ ...shared, storage, agents })
    await engine.recover()
    await engine.start()
    return engine
  }
  const pending = async () =>
    (await shared.storage.approvals.list({ status: 'pending' }, { limit: 10, order: 'asc' }, EVERY_ROW)).items
  const all = async () => (await shared.storage.approvals.list({}, { limit: 50, order: 'asc' }, EVERY_ROW)).items
  return { ...shared, open, pending, all }
}

type TestEngine = ReturnType<typeof createTestEngine>

const settle = async (engine: TestEngine) => {
  for (let turn = 0; turn < 20; turn++) {
    await untilIdle(engine.clock)
    engine.clock.advance(1)
  }
}

const decisionOn = (approvalId: string, approved: boolean) => ({
  approvalId,
  approved,
  by: 'boss',
  visibility: EVERY_ROW as Visibility,
})

const decide = async (engine: TestEngine, approvalId: string | undefined, approved: boolean) => {
  await engine.resolveApproval(decisionOn(approvalId ?? '', approved))
  await settle(engine)
}

const begin = async (engine: TestEngine) => {
  const { runId = '' } = await engine.run('a', { answer: 'accepted' })
  await settle(engine)
  return runId
}

describe('a budget that asks', () => {
  it('lets the run wait for an approval before the next call, and continues after it', async () => {
    const spent: number[] = []
    const { open, pending, all } = setUp(async (context) => {
      for (const cost of [0.5, 0.75, 0.5]) {
        await spend(context, cost)
        spent.push(cost)
      }
      return 'done'
    })
    const engine = await open()
    const runId = await begin(engine)

    expect(await engine.find(runId)).toMatchObject({ status: 'suspended', usage: { costUsd: 1.25 } })
    const [approval] = await pending()
    expect(approval).toMatchObject({ name: 'perdure:budget', title: 'Let a go on? Its budget is used up: 1 USD.' })
    expect(JSON.parse(approval?.payload ?? '')).toEqual({
      budgets: [{ runId, used: { costUsd: 1.25 }, newLimits: { costUsd: 2.25 } }],
    })
    expect(spent).toEqual([0.5, 0.75])

    await decide(engine, approval?.id, true)
    expect(await engine.find(runId)).toMatchObject({ status: 'completed', usage: { costUsd: 1.75 } })
    expect(await all()).toHaveLength(1)
  })

  it('asks again when what was approved is used up too', async () => {
    const { open, pending } = setUp(async (context) => {
      for (let n = 0; n < 4; n++) await spend(context, 1)
    })
    const engine = await open()
    const runId = await begin(engine)
    const limits: unknown[] = []
    for (let [approval] = await pending(); approval !== undefined; [approval] = await pending()) {
      limits.push(JSON.parse(approval.payload ?? '').budgets[0].newLimits)
      await decide(engine, approval.id, true)
    }

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', usage: { costUsd: 4 } })
    expect(limits).toEqual([{ costUsd: 2 }, { costUsd: 3 }, { costUsd: 4 }])
  })

  it('ends the run as budget-exhausted when a person denies, even if its code catches the error', async () => {
    const { open, pending } = setUp(async (context) => {
      await spend(context, 1)
      await spend(context, 1).catch(() => undefined)
      return 'went on'
    })
    const engine = await open()
    const runId = await begin(engine)
    await decide(engine, (await pending())[0]?.id, false)

    expect(await engine.find(runId)).toMatchObject({
      ...{ status: 'failed', finishReason: 'budget-exhausted', usage: { costUsd: 1 } },
      error: { budgetOf: runId, message: expect.stringContaining('denied') },
    })
  })

  it('does not ask a run that makes no further call', async () => {
    const { open, all } = setUp((context) => spend(context, 5))
    const engine = await open()
    const runId = await begin(engine)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', usage: { costUsd: 5 } })
    expect(await all()).toEqual([])
  })

  it('asks once for all parallel calls', async () => {
    const { open, pending, all } = setUp(async (context) => {
      await spend(context, 1)
      await Promise.all([1, 2, 3].map((n) => context.step(`part ${n}`, () => n)))
    })
    const engine = await open()
    const runId = await begin(engine)
    expect(await pending()).toHaveLength(1)
    await decide(engine, (await pending())[0]?.id, true)

    expect((await engine.find(runId))?.status).toBe('completed')
    expect(await all()).toHaveLength(1)
  })

  it.each([
    ['tool calls', { toolCalls: 2 }],
    ['tokens', { tokens: 2 }],
  ])('holds for %s', async (_, limits) => {
    let executed = 0
    const { open, pending } = setUp(
      async (context) => {
        for (let n = 0; n < 5; n++) {
          await context.tool({
            name: 'work',
            async execute() {
              executed++
              await context.usage({ provider: 'p', model: 'm', inputTokens: 1 })
            },
          })
        }
      },
      { budget: { ...limits, onExceeded: 'ask' } },
    )
    const engine = await open()
    const runId = await begin(engine)
    const before: number[] = []
    for (let [approval] = await pending(); approval !== undefined; [approval] = await pending()) {
      before.push(executed)
      await decide(engine, approval.id, true)
    }

    expect(before).toEqual([2, 4])
    expect((await engine.find(runId))?.status).toBe('completed')
  })

  it('lets no more parallel tools start than it allows', async () => {
    const started: number[] = []
    const { open, pending } = setUp(
      (context) =>
        Promise.all([1, 2, 3, 4].map((n) => context.tool({ name: `work ${n}`, execute: () => void started.push(n) }))),
      { budget: { toolCalls: 2, onExceeded: 'ask' } },
    )
    const engine = await open()
    await begin(engine)

    expect(started).toEqual([1, 2])
    expect(await pending()).toHaveLength(1)
  })

  it('is asked by a child that uses up the budget of its parent, and then by the parent for itself', async () => {
    const spent: string[] = []
    const { open, pending } = setUp(
      async (context) => {
        await context.invoke('child')
        await spend(context, 0.25)
        spent.push('parent')
      },
      {
        async child(context) {
          await spend(context, 1)
          await spend(context, 0.5)
          spent.push('child')
        },
      },
    )
    const engine = await open()
    const runId = await begin(engine)
    const [ofChild] = await pending()
    expect([ofChild?.runId === runId, spent]).toEqual([false, []])
    await decide(engine, ofChild?.id, true)
    const [ofParent] = await pending()
    expect([ofParent?.runId, spent]).toEqual([runId, ['child']])
    await decide(engine, ofParent?.id, true)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', usage: { costUsd: 1.75 } })
  })

  it('does not soften a stricter budget of a child', async () => {
    const { open, pending } = setUp((context) => context.invoke('child').catch((error: Error) => error.message), {
      child: (context) => spend(context, 0.5),
      childBudget: { costUsd: 0.3 },
    })
    const engine = await open()
    const runId = await begin(engine)

    expect(await pending()).toEqual([])
    expect((await engine.find(runId))?.result).toContain('budget')
  })

  it('still ends the run at its maxDuration, and at a limit of a request that has no budget that asks', async () => {
    const { open } = setUp((context) => context.sleep('long', '1h'), {
      budget: { costUsd: 1, maxDuration: '1m', onExceeded: 'ask' },
    })
    const engine = await open()
    const runId = await begin(engine)
    await engine.advance(60_000)

    expect(await engine.find(runId)).toMatchObject({ finishReason: 'budget-exhausted' })
  })

  it('is refused as a name of an approval, and with another word', async () => {
    const { open } = setUp((context) => context.approval('perdure:budget'))
    const engine = await open()
    const runId = await begin(engine)

    expect((await engine.find(runId))?.error).toMatchObject({ code: 'validation-failed' })
    expect(() =>
      createTestEngine({ agents: [agentOf('a', async () => 1, { budget: { onExceeded: 'stop' as never } })] }),
    ).toThrow("budget.onExceeded must be 'fail' or 'ask'")
  })

  it('belongs to the run that asked: a fork past an approval asks for its own budget', async () => {
    const { open, pending } = setUp(async (context) => {
      for (let n = 0; n < 3; n++) await spend(context, 1)
    })
    const engine = await open()
    const runId = await begin(engine)
    await decide(engine, (await pending())[0]?.id, true)
    await decide(engine, (await pending())[0]?.id, false)
    expect((await engine.find(runId))?.status).toBe('failed')

    const reply = await engine.forkRun({
      ...{ runId, from: { seq: 3 }, action: 'runs.fork', principal: REPAIRER, visibility: EVERY_ROW },
    })
    await settle(engine)
    const [approval] = await pending()
    expect(approval?.runId).toBe(reply.runId)
    expect(JSON.parse(approval?.payload ?? '').budgets).toEqual([
      { runId: reply.runId, used: { costUsd: 1 }, newLimits: { costUsd: 2 } },
    ])
  })

  it('asks once, whatever commit a crash follows', async () => {
    for (let commits = 1; ; commits++) {
      const world = setUp(async (context) => {
        await spend(context, 0.6)
        await spend(context, 0.6)
        await Promise.all(['one', 'two'].map((name) => context.step(name, () => name)))
        return 'done'
      })
      const crashing = createCrashingStorage(world.storage)
      const approve = async (engine: TestEngine) => {
        const [approval] = await world.pending()
        if (approval === undefined) return
        void engine.resolveApproval(decisionOn(approval.id, true)).catch(() => undefined)
        await settle(engine)
      }
      const first = await world.open(crashing.storage)
      crashing.crashAfter(commits)
      void first.run('a', { answer: 'accepted' }).catch(() => undefined)
      await settle(first)
      await approve(first)

      const second = await world.open()
      await settle(second)
      await approve(second)
      const { items } = await world.storage.runs.list({}, { limit: 1, order: 'desc' }, EVERY_ROW)
      const after = `crash after commit ${commits}`
      expect(items, after).toMatchObject([{ status: 'completed' }])
      expect(await world.all(), after).toMatchObject([{ status: 'approved' }])
      if (!crashing.hasCrashed()) {
        expect(commits).toBeGreaterThan(10)
        return
      }
    }
  })
})

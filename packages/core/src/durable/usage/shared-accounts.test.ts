import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, NO_USAGE, type Refusal, type RunBudget } from '@perdure/ports'
import { aRun, createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../engine/test-engine.fixture.ts'
import type { Journal } from '../journal.ts'
import { createBudget } from './run-budget.ts'
import { createUsageAccounts } from './usage-accounts.ts'

/** Processes on one storage, each of which executes a child of the same run. */
async function twoProcesses(budget: RunBudget) {
  const { runs, unitOfWork } = createInMemoryStorage()
  const clock = createManualClock()
  const parent = aRun({ id: 'parent', status: 'suspended', budget, usage: NO_USAGE })
  const children = ['one', 'other'].map((id) =>
    aRun({ id, status: 'running', parentRunId: parent.id, usage: NO_USAGE }),
  )
  for (const run of [parent, ...children]) await unitOfWork.commit([{ type: 'run.insert', run }])
  const journal = {
    record: async ({ writes = [] }) => void (await unitOfWork.commit(writes)),
  } as Pick<Journal, 'record'> as Journal
  const budgets = await Promise.all(
    children.map(async (run) => {
      const usageAccounts = createUsageAccounts({ runs, timers: clock, logger: silentLogger, isStorageShared: true })
      const { accounts } = await usageAccounts.open(run, true)
      const runMeter = { used: () => undefined } as never
      return createBudget({ clock, runMeter }, run, { journal, recorded: [], accounts, onExhausted: () => undefined })
    }),
  )
  const takeToolCall = async (process: number) => {
    const { writes, confirm } = (budgets[process] as (typeof budgets)[number]).takeToolCall()
    await unitOfWork.commit(writes)
    confirm()
    await budgets[process]?.checkToolCall()
  }
  const usedByParent = async () => (await runs.find('parent', EVERY_ROW))?.usage
  return { budgets, takeToolCall, usedByParent }
}

const refusalOf = (work: Promise<unknown> | undefined): Promise<string | undefined> =>
  Promise.resolve(work).then(
    () => undefined,
    (error: Refusal) => error.code,
  )

describe('a budget that runs of two processes share', () => {
  const report = { provider: 'p', model: 'm', inputTokens: 40 }

  it('is used up by what both of them report', async () => {
    const { budgets, usedByParent } = await twoProcesses({ tokens: 100 })
    const refusals: (string | undefined)[] = []
    for (const process of [0, 1, 0, 1]) refusals.push(await refusalOf(budgets[process]?.add(report)))

    expect(refusals).toEqual([undefined, undefined, 'budget-exhausted', 'budget-exhausted'])
    expect((await usedByParent())?.inputTokens).toBe(160)
  })

  it('counts what is reported at the same moment once', async () => {
    const { budgets } = await twoProcesses({ tokens: 200 })
    const all = await Promise.all([0, 0, 1, 1].map((process) => refusalOf(budgets[process]?.add(report))))

    expect(all).toEqual([undefined, undefined, undefined, undefined])
    expect(await refusalOf(budgets[0]?.add(report))).toBe('budget-exhausted')
  })

  it('allows as many tool calls as its limit, whichever process makes them', async () => {
    const { takeToolCall } = await twoProcesses({ toolCalls: 3 })
    const refusals: (string | undefined)[] = []
    for (const process of [0, 1, 0, 1, 0]) refusals.push(await refusalOf(takeToolCall(process)))

    expect(refusals).toEqual([undefined, undefined, undefined, 'budget-exhausted', 'budget-exhausted'])
  })
})

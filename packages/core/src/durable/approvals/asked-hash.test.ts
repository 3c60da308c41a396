import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, toJsonText } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createTestEngine, outcomeOf, testDigest, workflowOf } from '../../engine/test-engine.fixture.ts'
import type { RunContext } from '../../targets/run-context.ts'
import { askedHashOf } from './asked-hash.ts'

type Code = (input: unknown, ctx: RunContext) => Promise<unknown>

/** Starts processes that share one storage, each with other code for the workflow `pay`. */
function restarts() {
  const shared = { storage: createInMemoryStorage(), clock: createManualClock(), ids: createSequenceIds() }
  const boot = async (code: Code) => {
    const engine = createTestEngine({ ...shared, workflows: [workflowOf('pay', code)] })
    await engine.recover()
    await engine.start()
    await engine.advance(0)
    return engine
  }
  return { boot, ...shared }
}

type Engine = Awaited<ReturnType<ReturnType<typeof restarts>['boot']>>

const approvalsOf = async ({ storage }: Engine, runId: string) =>
  (await storage.approvals.list({ runId }, { limit: 9, order: 'asc' }, EVERY_ROW)).items

async function decide(engine: Engine, runId: string): Promise<void> {
  const asked = (await approvalsOf(engine, runId)).find(({ status }) => status === 'pending')
  await engine.resolveApproval({ approvalId: asked?.id ?? '', approved: true, by: 'boss', visibility: EVERY_ROW })
  await engine.advance(0)
}

const start = async (engine: Engine) => {
  const { runId } = outcomeOf(await engine.execute('pay'))
  await engine.advance(0)
  return runId
}

const paying =
  (payload: unknown, effects: unknown[], title = 'Pay?'): Code =>
  async (_, ctx) => {
    await ctx.approval('pay', { title, payload })
    await ctx.step('transfer', () => void effects.push(payload))
    await ctx.waitForEvent('receipt')
    return ctx.step('file', () => payload)
  }

describe('a decision', () => {
  it('does not count for another payload: the run asks again and keeps the earlier decision in its log', async () => {
    const { boot, storage } = restarts()
    const effects: unknown[] = []
    const first = await boot(paying({ amount: 10 }, effects))
    const runId = await start(first)
    const [asked] = await approvalsOf(first, runId)
    await first.drain(0)
    await first.release()
    // The decision is stored while no process executes the run.
    const second = await boot(async (_, ctx) => paying({ amount: 99 }, effects)(_, ctx))
    await decide(second, runId)

    expect(effects).toEqual([])
    expect(await second.find(runId)).toMatchObject({ status: 'suspended' })
    expect(await approvalsOf(second, runId)).toMatchObject([
      { id: asked?.id, status: 'approved', payload: toJsonText({ amount: 10 }) },
      { status: 'pending', payload: toJsonText({ amount: 99 }) },
    ])
    const requested = (await second.eventsOf(runId)).filter(({ type }) => type === 'approval.requested')
    expect(requested.map(({ payload }) => JSON.parse(payload ?? '').replaces)).toEqual([undefined, asked?.id])
    const again = 'Pay? (asked again: this request differs from the one that was approved)'
    expect((await approvalsOf(second, runId)).map(({ title }) => title)).toEqual(['Pay?', again])
    expect(requested.map(({ payload }) => JSON.parse(payload ?? '').title)).toEqual(['Pay?', again])

    await decide(second, runId)
    expect(effects).toEqual([{ amount: 99 }])
    expect(await storage.steps.list(runId)).toMatchObject([
      { kind: 'approval', status: 'completed', endOrder: 1 },
      { kind: 'step', status: 'completed', endOrder: 2 },
      { kind: 'event', status: 'waiting' },
    ])
  })

  it.each([
    ['was denied', false, 0],
    ['expired', undefined, 2_000],
  ])('that %s and does not count is named in the new request, and in the log', async (_, approved, waitMs) => {
    const shared = { storage: createInMemoryStorage(), clock: createManualClock(), ids: createSequenceIds() }
    const lines: unknown[] = []
    const warn = (message: string, fields?: object) => lines.push([message, fields])
    const boot = async (payload: number) => {
      const code: Code = async (_, ctx) => {
        const asked = { title: 'Pay? '.repeat(102), payload, ...(approved === undefined ? { timeout: 1_000 } : {}) }
        await ctx.approval('pay', asked)
        return ctx.waitForEvent('receipt')
      }
      const logger = { debug: () => undefined, info: () => undefined, warn, error: () => undefined }
      const engine = createTestEngine({ ...shared, logger, workflows: [workflowOf('pay', code)] })
      await engine.recover()
      await engine.start()
      await engine.advance(0)
      return engine
    }
    const first = await boot(1)
    const runId = await start(first)
    const [asked] = await approvalsOf(first, runId)
    if (approved !== undefined) {
      await first.resolveApproval({ approvalId: asked?.id ?? '', approved, by: 'boss', visibility: EVERY_ROW })
    }
    await first.advance(waitMs)
    await first.drain(0)
    await first.release()
    const second = await boot(2)
    await second.emitEvent({ name: 'receipt', payload: null })
    await second.advance(0)

    const why = `asked again: this request differs from the one that was not approved`
    const [, again] = await approvalsOf(second, runId)
    expect(again).toMatchObject({ status: 'pending', title: expect.stringContaining(`… (${why})`) })
    expect(again?.title).toHaveLength(512)
    const told = `the approval pay is ${why}; its payload or arguments change between executions of the code`
    expect(lines).toEqual([[told, { runId }]])
  })

  it('that the run has acted on does not count later either, and its recorded steps are not repeated', async () => {
    const { boot } = restarts()
    const effects: unknown[] = []
    const first = await boot(paying(1, effects))
    const runId = await start(first)
    await decide(first, runId)
    expect(effects).toEqual([1])

    const second = await boot(paying(2, effects))
    await second.emitEvent({ name: 'receipt', payload: null })
    await second.advance(0)
    expect(await second.find(runId)).toMatchObject({ status: 'suspended' })
    await decide(second, runId)

    expect(await second.find(runId)).toMatchObject({ status: 'completed', result: '2' })
    expect(effects).toEqual([1])
  })

  it('counts for the same payload with another title and another order of members', async () => {
    const { boot } = restarts()
    const effects: unknown[] = []
    const first = await boot(paying({ amount: 10, to: 'bob' }, effects))
    const runId = await start(first)
    await decide(first, runId)
    const second = await boot(paying({ to: 'bob', amount: 10 }, effects, 'Really?'))
    await second.emitEvent({ name: 'receipt', payload: null })
    await second.advance(0)

    expect(await second.find(runId)).toMatchObject({ status: 'completed' })
    expect(await approvalsOf(second, runId)).toHaveLength(1)
  })

  it('counts in the run for which a call without a hash has asked', async () => {
    const { boot, storage } = restarts()
    const effects: unknown[] = []
    const first = await boot(paying(1, effects))
    const runId = await start(first)
    const { read } = storage.steps
    storage.steps.read = async (id, range) => {
      const { items, hasMore } = await read(id, range)
      return { items: items.map(({ askedHash: _, ...step }) => step), hasMore }
    }
    await first.drain(0)
    const second = await boot(paying(2, effects))
    await decide(second, runId)

    expect(effects).toEqual([2])
  })

  it('replaced by one without a timeout does not expire', async () => {
    const { boot } = restarts()
    const first = await boot(async (_, ctx) => ctx.approval('pay', { payload: 1, timeout: 1_000 }))
    const runId = await start(first)
    await first.drain(0)
    const second = await boot(async (_, ctx) => (await ctx.approval('pay', { payload: 2 })).approved)
    await decide(second, runId)
    await second.advance(5_000)
    expect(await second.find(runId)).toMatchObject({ status: 'suspended' })
    await decide(second, runId)

    expect(await second.find(runId)).toMatchObject({ status: 'completed', result: 'true' })
  })

  it('on a tool call does not count for other arguments, even if the person saw the same payload', async () => {
    const { boot } = restarts()
    const effects: unknown[] = []
    const calling =
      (amount: number): Code =>
      async (_, ctx) =>
        ctx.tool({
          name: 'pay',
          args: { amount },
          approval: { payload: 'Pay?' },
          execute: (args) => effects.push(args),
        })
    const first = await boot(calling(10))
    const runId = await start(first)
    await first.drain(0)
    const second = await boot(calling(99))
    await decide(second, runId)
    expect(effects).toEqual([])
    await decide(second, runId)

    expect(effects).toEqual([{ amount: 99 }])
  })

  it('counts in every attempt of its run', async () => {
    let isDown = true
    const effects: string[] = []
    const retrying = workflowOf(
      'retrying',
      async (_, ctx) => {
        await ctx.approval('pay', { payload: 1 })
        await ctx.step('transfer', () => {
          if (isDown) throw new Error('down')
          effects.push('transfer')
        })
      },
      { retries: 1 },
    )
    const engine = createTestEngine({ workflows: [retrying] })
    await engine.start()
    const { runId } = outcomeOf(await engine.execute('retrying'))
    await engine.advance(0)
    await decide(engine, runId)
    isDown = false
    for (let second = 0; second < 60; second++) await engine.advance(1_000)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', attempt: 2 })
    expect(effects).toEqual(['transfer'])
  })
})

describe('the hash of what was asked', () => {
  it('tells payloads and arguments apart', () => {
    const asked = [{}, { payload: null }, { args: null }, { payload: 1 }, { args: 1 }, { payload: { args: 1 } }]

    expect(new Set(asked.map((one) => askedHashOf(testDigest, one))).size).toBe(asked.length)
  })
})

import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type RunRecord } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import type { AgentRegistration } from '../targets/agent.ts'
import type { RunContext } from '../targets/run-context.ts'
import type { StandardSchemaV1 } from '../targets/standard-schema.ts'
import { agentOf, createTestEngine, untilIdle } from './test-engine.fixture.ts'

const schemaOf = (validate: StandardSchemaV1['~standard']['validate']) =>
  ({ '~standard': { version: 1, vendor: 'test', validate } }) as StandardSchemaV1

const check = (value: unknown) => {
  const { n } = value as { readonly n: unknown }
  if (typeof n !== 'number') return { issues: [{ message: 'must be a number', path: ['n'] }] }
  return { value: { n, unit: 'apples' } }
}
const NUMBER = schemaOf(check)
const ASYNC_NUMBER = schemaOf(async (value) => check(value))
const spend = (tokens: number) => ({ provider: 'p', model: 'm', inputTokens: tokens })

function setUp(...agents: readonly AgentRegistration[]) {
  const shared = { storage: createInMemoryStorage(), clock: createManualClock(), ids: createSequenceIds() }
  const idle = async () => {
    for (let round = 0; round < 6; round++) await untilIdle(shared.clock)
  }
  const boot = async () => {
    const engine = createTestEngine({ ...shared, agents })
    await engine.recover()
    await engine.start()
    await idle()
    return engine
  }
  const runs = async (targetId: string): Promise<readonly RunRecord[]> =>
    (await shared.storage.runs.list({ targetId, kind: 'agent' }, { limit: 99, order: 'asc' }, EVERY_ROW)).items
  const run = async (body = {}) => {
    const engine = await boot()
    await engine.run('parent', { body, answer: 'accepted' })
    await idle()
    return { engine, parent: (await runs('parent'))[0] }
  }
  return { ...shared, boot, idle, runs, run }
}

const parentOf = (run: (context: RunContext) => Promise<unknown>) =>
  agentOf('parent', (_, context) => run(context), { onCrash: 'retry' })

describe('ctx.invoke with an input schema', () => {
  it.each([
    ['a synchronous', NUMBER],
    ['an asynchronous', ASYNC_NUMBER],
  ])('fails the call without storing a run or a step when %s schema rejects the input', async (_, input) => {
    const child = agentOf('child', async () => 1, { input })
    const { run, runs, storage } = setUp(
      child,
      parentOf(async ({ invoke }) =>
        invoke('child', { n: 'many' }).catch((error) => [error.code ?? error.kind, error.message]),
      ),
    )

    const { parent } = await run()

    expect(JSON.parse(parent?.result ?? '')).toEqual(['invalid-input', expect.stringContaining('input.n')])
    expect(await runs('child')).toEqual([])
    expect(await storage.steps.list(parent?.id ?? '')).toEqual([])
  })

  it('passes the value parsed by the schema to the child', async () => {
    const { run } = setUp(
      agentOf('child', async (input) => input, { input: NUMBER }),
      parentOf(({ invoke }) => invoke('child', { n: 2 })),
    )

    expect((await run()).parent?.result).toBe('{"n":2,"unit":"apples"}')
  })

  it('does not treat the parent as blocked while an asynchronous schema parses the input', async () => {
    const { run } = setUp(
      agentOf('child', async (input) => input, { input: ASYNC_NUMBER }),
      parentOf(async ({ invoke }) => [await invoke('child', { n: 2 }), await invoke('child', { n: 3 })]),
    )

    expect((await run()).parent).toMatchObject({
      status: 'completed',
      result: '[{"n":2,"unit":"apples"},{"n":3,"unit":"apples"}]',
    })
  })

  it('rejects the call if its input is not JSON', async () => {
    const { run } = setUp(
      agentOf('child', async () => 1),
      parentOf(({ invoke }) => invoke('child', 1n)),
    )

    expect((await run()).parent).toMatchObject({ status: 'failed', error: { code: 'validation-failed' } })
  })
})

describe('the usage of a child run', () => {
  const child = agentOf('child', async (input, { usage, tool }) => {
    await usage(spend(Number(input)))
    await tool({ name: 't', execute: () => 1 })
    return input
  })

  it('is added to the usage of its parent', async () => {
    const { run } = setUp(
      child,
      parentOf(async ({ invoke, usage }) => {
        await usage(spend(5))
        await Promise.all([invoke('child', 10), invoke('child', 20)])
        await usage(spend(7))
      }),
    )

    expect((await run()).parent).toMatchObject({
      status: 'completed',
      usage: { inputTokens: 42, outputTokens: 0, toolCalls: 2 },
    })
  })

  it('is added to its parent even if the child fails', async () => {
    const failing = agentOf('child', async (_, { usage }) => {
      await usage(spend(9))
      throw new Error('no')
    })
    const { run } = setUp(
      failing,
      parentOf(({ invoke }) => invoke('child').catch(() => 'sorry')),
    )

    expect((await run()).parent).toMatchObject({ status: 'completed', usage: { inputTokens: 9 } })
  })

  it('is added once, no matter how often the parent is re-executed', async () => {
    const { run, boot, runs, idle } = setUp(
      child,
      parentOf(async ({ invoke, waitForEvent }) => {
        await invoke('child', 10)
        await waitForEvent('go')
        await invoke('child', 20)
        await waitForEvent('go')
      }),
    )
    const { engine } = await run()
    await engine.emitEvent({ name: 'go' })
    await idle()
    const next = await boot()
    await next.emitEvent({ name: 'go' })
    await idle()

    expect((await runs('parent'))[0]).toMatchObject({ status: 'completed', usage: { inputTokens: 30, toolCalls: 2 } })
  })

  it('still counts after a resume that does not repeat the call', async () => {
    const { run, runs, idle } = setUp(
      child,
      parentOf(async ({ invoke, suspend, resume }) => {
        if (resume !== undefined) return 'resumed'
        await invoke('child', 10)
        return suspend()
      }),
    )
    const { engine, parent } = await run()

    engine.resumeRun({
      runId: parent?.id ?? '',
      principal: { subject: 'a', scopes: ['agents:invoke'] },
      visibility: EVERY_ROW,
    })
    await idle()

    expect((await runs('parent'))[0]).toMatchObject({ status: 'completed', usage: { inputTokens: 10, toolCalls: 1 } })
  })

  it('still counts when the parent is aborted', async () => {
    const { run, runs } = setUp(
      child,
      parentOf(async ({ invoke, waitForEvent }) => [await invoke('child', 10), await waitForEvent('go')]),
    )
    const { engine, parent } = await run()

    await engine.abortRun({ runId: parent?.id ?? '', visibility: EVERY_ROW })

    expect((await runs('parent'))[0]).toMatchObject({ status: 'aborted', usage: { inputTokens: 10, toolCalls: 1 } })
  })

  it('is limited by the budget and the deadline of the parent', async () => {
    const own = agentOf('own', async () => 1, { budget: { tokens: 40, toolCalls: 9, maxDuration: 1_000 } })
    const { run, runs } = setUp(
      ...[child, own],
      parentOf(async ({ invoke, usage }) => {
        await usage(spend(30))
        await invoke('child', 20)
        await invoke('own')
      }),
    )

    const { parent } = await run({ budget: { tokens: 100, toolCalls: 3, costUsd: 1, maxDuration: 60_000 } })

    const children = [...(await runs('child')), ...(await runs('own'))]
    expect(children.map(({ budget, deadlineAt }) => [budget, deadlineAt])).toEqual([
      [{ tokens: 100, toolCalls: 3, costUsd: 1 }, parent?.deadlineAt],
      [{ tokens: 40, toolCalls: 3, costUsd: 1, maxDuration: 1_000 }, (parent?.createdAt ?? 0) + 1_000],
    ])
  })

  it('has no limit if the parent has no budget', async () => {
    const { run, runs } = setUp(
      child,
      parentOf(({ invoke }) => invoke('child', 20)),
    )
    await run()

    expect((await runs('child'))[0]?.budget).toBeUndefined()
  })

  it('ends the parent when the child uses up the remaining budget, and leaves it ended after a restart', async () => {
    const { run, boot, runs } = setUp(
      child,
      parentOf(async ({ invoke, usage, sleep }) => {
        await usage(spend(30))
        await invoke('child', 80).catch(() => undefined)
        await sleep('never', 1_000)
      }),
    )

    const { parent } = await run({ budget: { tokens: 100 } })
    await boot()

    expect((await runs('child'))[0]).toMatchObject({ status: 'failed', finishReason: 'budget-exhausted' })
    expect((await runs('parent'))[0]).toMatchObject({
      ...{ id: parent?.id, status: 'failed', finishReason: 'budget-exhausted' },
      usage: { inputTokens: 110 },
    })
  })
})

import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, outcomeOf, untilIdle } from '../engine/test-engine.fixture.ts'
import { defineAgent, defineWorkflow } from '../targets/definition.ts'
import { type Code, never, processes, waitFor } from './processes.fixture.ts'

describe('ctx.invoke', () => {
  it('writes only the messages of the parent to the session', async () => {
    const child = agentOf('child', async () => 'inner')
    const parent = agentOf('parent', async (_, { invoke }) => invoke('child'))
    const engine = createTestEngine({ agents: [child, parent] })
    await waitFor(engine, engine.run('parent', { body: { input: 'hi', sessionId: 'chat' }, answer: 'accepted' }))
    await untilIdle(engine.clock)

    const { items } = await engine.storage.sessions.messages('chat', { limit: 9, order: 'asc' })
    expect(items.map(({ role, content }) => [role, content])).toEqual([
      ['user', '"hi"'],
      ['assistant', '"inner"'],
    ])
  })

  it('returns the result of the child, and the waiting parent holds no slot', async () => {
    const child = agentOf('child', async (input) => ({ got: input }))
    const parent = agentOf('parent', async (_, { invoke }) => invoke('child', 7))
    const engine = createTestEngine({ agents: [child, parent], concurrency: 1 })

    const reply = await waitFor(engine, engine.run('parent', { answer: 'accepted' }))
    await untilIdle(engine.clock)

    const run = await engine.find(reply.runId ?? '')
    expect(run).toMatchObject({ status: 'completed', result: '{"got":7}' })
    const [record] = (await engine.storage.runs.list({ parentRunId: run?.id }, { limit: 9, order: 'asc' }, EVERY_ROW))
      .items
    expect(record).toMatchObject({ targetId: 'child', depth: 1, owner: 'alice' })
  })

  it('runs a workflow by its definition, in the given version and in a thread of its own', async () => {
    const next = defineWorkflow({ id: 'report', version: '2', run: (input) => ({ next: input }) })
    const present = defineWorkflow({ id: 'report', version: '1', run: (input) => ({ present: input }) })
    const parent = agentOf('parent', async (_, { invoke }) => [await invoke(next, 1), await invoke('report', 2)])
    const engine = createTestEngine({ agents: [parent], workflows: [present, next] })

    const reply = await waitFor(engine, engine.run('parent', { answer: 'accepted' }))
    await untilIdle(engine.clock)

    const run = await engine.find(reply.runId ?? '')
    expect(run).toMatchObject({ status: 'completed', result: '[{"next":1},{"present":2}]' })
    const { items } = await engine.storage.runs.list({ parentRunId: run?.id }, { limit: 9, order: 'asc' }, EVERY_ROW)
    expect(items.map(({ kind, version }) => [kind, version])).toEqual([
      ['workflow', '2'],
      ['workflow', '1'],
    ])
    expect(new Set(items.map(({ threadId }) => threadId)).size).toBe(2)
  })

  it.each([
    ['an id that an agent and a workflow have', 'both', 'both is an agent and a workflow; pass the definition'],
    ['a definition that is not registered', defineAgent({ id: 'other', run: () => 1 }), 'no agent has the id other'],
    ['a value that is neither an id nor a definition', 5 as never, 'must be a definition or an id'],
  ])('rejects %s', async (_, target, message) => {
    const parent = agentOf('parent', (__, { invoke }) => invoke(target))
    const both = defineAgent({ id: 'both', run: () => 1 })
    const engine = createTestEngine({
      agents: [parent, both],
      workflows: [defineWorkflow({ id: 'both', run: () => 1 })],
    })

    const reply = await waitFor(engine, engine.run('parent'))

    expect(outcomeOf(reply)).toMatchObject({ status: 'failed', error: { message: expect.stringContaining(message) } })
  })

  it('aborts the child when the parent is aborted', async () => {
    const child = agentOf('child', never)
    const parent = agentOf('parent', async (_, { invoke }) => invoke('child'))
    const engine = createTestEngine({ agents: [child, parent] })
    const { runId = '' } = await engine.run('parent', { answer: 'accepted' })
    await untilIdle(engine.clock)

    await engine.abortRun({ runId, visibility: EVERY_ROW })
    await untilIdle(engine.clock)

    const { items } = await engine.storage.runs.list({ parentRunId: runId }, { limit: 9, order: 'asc' }, EVERY_ROW)
    expect(items.map(({ status }) => status)).toEqual(['aborted'])
  })

  it('nests up to eight levels', async () => {
    const nest = agentOf('nest', async (input, { invoke }) =>
      Number(input) === 0 ? 'bottom' : invoke('nest', Number(input) - 1),
    )
    const engine = createTestEngine({ agents: [nest] })
    const run = async (depth: number) => {
      const { runId = '' } = await engine.run('nest', { body: { input: depth }, answer: 'accepted' })
      for (let turn = 0; turn < 12; turn++) await untilIdle(engine.clock)
      return engine.find(runId)
    }

    expect(await run(8)).toMatchObject({ status: 'completed', result: '"bottom"' })
    expect(await run(9)).toMatchObject({ status: 'failed', error: { code: 'step-failed' } })
  })
})

describe('a budget', () => {
  it('ends the run before a tool call beyond the limit, across re-executions', async () => {
    const process = processes()
    let calls = 0
    const code: Code = async ({ tool, sleep }) => {
      for (let n = 0; n < 5; n++) {
        await tool({ name: `t${n}`, execute: () => ++calls })
        await sleep('pause', 1_000)
      }
    }
    const engine = await process(code)
    const { runId = '' } = await engine.execute('flow', { body: { budget: { toolCalls: 2 } } })
    await untilIdle(engine.clock)
    await engine.advance(1_000)
    await engine.advance(1_000)

    expect(calls).toBe(2)
    expect(await engine.find(runId)).toMatchObject({
      status: 'failed',
      finishReason: 'budget-exhausted',
      usage: { toolCalls: 2 },
    })
  })

  it('counts model usage and ends a run that reaches its token limit', async () => {
    const spender = agentOf('spender', async (_, { usage }) => {
      for (;;) await usage({ provider: 'p', model: 'm', inputTokens: 40, outputTokens: 10, costUsd: 0.1 })
    })
    const engine = createTestEngine({ agents: [spender] })

    const reply = await waitFor(engine, engine.run('spender', { body: { budget: { tokens: 100 } } }))

    expect(outcomeOf(reply)).toMatchObject({ status: 'failed', finishReason: 'budget-exhausted' })
    expect((await engine.find(reply.runId ?? ''))?.usage).toMatchObject({ inputTokens: 80, outputTokens: 20 })
  })

  it('ends a suspended run at its deadline', async () => {
    const process = processes()
    const engine = await process(async ({ sleep }) => sleep('long', 86_400_000))
    const { runId = '' } = await engine.execute('flow', { body: { budget: { maxDuration: 5_000 } } })
    await untilIdle(engine.clock)

    await engine.advance(5_000)

    expect(await engine.find(runId)).toMatchObject({ status: 'failed', finishReason: 'budget-exhausted' })
  })
})

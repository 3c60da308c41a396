import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import type { RunContext } from '../targets/run-context.ts'
import { agentOf, createTestEngine, gate, outcomeOf, untilIdle } from './test-engine.fixture.ts'

const echo = agentOf('echo', async (input) => input)

describe('startRun', () => {
  it('answers with the outcome of a completed run', async () => {
    const engine = createTestEngine({ agents: [echo] })

    const reply = await engine.run('echo', { body: { input: { text: 'hi' } } })

    expect(reply.status).toBe(200)
    expect(outcomeOf(reply)).toMatchObject({
      status: 'completed',
      finishReason: 'completed',
      result: { text: 'hi' },
      sessionId: null,
      usage: { inputTokens: 0, outputTokens: 0, costUsd: 0, toolCalls: 0 },
      subject: `agent:echo/runs/${reply.runId}/events`,
      links: { self: `/v1/runs/${reply.runId}`, events: `/v1/runs/${reply.runId}/events` },
    })
  })

  it('stores the run with every field of the request', async () => {
    const engine = createTestEngine({ agents: [echo] })
    const body = { input: 1, userId: 'u1', metadata: { team: 'a' }, timeoutMs: 5_000 }

    const { runId = '' } = await engine.run('echo', { body, traceparent: '00-ab-cd-01' })

    expect(await engine.find(runId)).toMatchObject({
      ...{ kind: 'agent', targetId: 'echo', owner: 'alice', userId: 'u1', status: 'completed', attempt: 1 },
      ...{ input: '1', result: '1', metadata: { team: 'a' }, timeoutMs: 5_000, traceparent: '00-ab-cd-01' },
    })
  })

  it('logs the events of a run in order', async () => {
    const talk = agentOf('talk', async (_, context) => {
      await context.emit('text.delta', { delta: 'a' })
      context.emit('custom.note', { n: 1 })
      return 'done'
    })
    const engine = createTestEngine({ agents: [talk] })

    const { runId = '' } = await engine.run('talk')

    const events = await engine.eventsOf(runId)
    expect(events.map(({ type }) => type)).toEqual(['run.started', 'text.delta', 'custom.note', 'run.completed'])
    expect(JSON.parse(events.at(-1)?.payload ?? '')).toMatchObject({ runId, status: 'completed', result: 'done' })
  })

  it('emits what a generator agent yields and stores its return value as the result', async () => {
    const count = agentOf('count', async function* () {
      for (let n = 0; n < 300; n++) yield { type: 'count.tick', payload: { n } }
      return 'counted'
    })
    const engine = createTestEngine({ agents: [count] })

    const reply = await engine.run('count')

    const ticks = (await engine.eventsOf(outcomeOf(reply).runId)).filter(({ type }) => type === 'count.tick')
    expect(ticks.map(({ payload }) => JSON.parse(payload).n)).toEqual(Array.from({ length: 300 }, (_, n) => n))
    expect(outcomeOf(reply).result).toBe('counted')
  })

  it('passes ids, metadata and a JSON input to the agent', async () => {
    let seen: Partial<RunContext> = {}
    const spy = agentOf('spy', async (input, context) => {
      seen = context
      return input
    })
    const engine = createTestEngine({ agents: [spy] })

    const reply = await engine.run('spy', {
      body: { userId: 'u', sessionId: 's', metadata: { k: 'v' } },
      traceparent: 't',
    })

    expect(outcomeOf(reply).result).toBeNull()
    expect(seen).toMatchObject({
      ...{ runId: reply.runId, agentId: 'spy', userId: 'u', sessionId: 's', attempt: 1, traceparent: 't' },
      metadata: { k: 'v' },
    })
  })

  it.each([
    [new Error('broken'), { code: 'run-failed', message: 'broken' }],
    [Object.assign(new Error('no'), { code: 'my-code', kind: 'ignored' }), { code: 'my-code', message: 'no' }],
    [Object.assign(new Error('no'), { kind: 'rate-limit' }), { code: 'rate-limit', message: 'no' }],
    ['just text', { code: 'run-failed', message: 'just text' }],
    [undefined, { code: 'run-failed', message: 'undefined' }],
    [Object.create(null), { code: 'run-failed', message: 'the thrown value cannot be converted to text' }],
    [
      Object.defineProperty({}, 'code', {
        get() {
          throw new Error('no')
        },
      }),
      { code: 'run-failed', message: '[object Object]' },
    ],
  ])('fails the run with a readable error for any value that the agent throws (%#)', async (thrown, error) => {
    const engine = createTestEngine({
      agents: [
        agentOf('bad', async () => {
          throw thrown
        }),
      ],
    })

    const reply = await engine.run('bad')

    expect(reply.status).toBe(200)
    expect(outcomeOf(reply)).toMatchObject({ status: 'failed', finishReason: 'error', error })
    expect(await engine.find(reply.runId ?? '')).toMatchObject({ status: 'failed', error })
  })

  it.each([
    ['a result over the limit', () => 'x'.repeat(1_001)],
    ['a result that is not JSON', () => 1n],
  ])('fails a run with %s', async (_, make) => {
    const engine = createTestEngine({ agents: [agentOf('odd', async () => make())] })

    expect(outcomeOf(await engine.run('odd'))).toMatchObject({ status: 'failed', finishReason: 'error' })
  })

  it('validates the input against the schema of the agent before it stores a run', async () => {
    const schema = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value: unknown) =>
          typeof value === 'number' ? { value: value + 1 } : { issues: [{ message: 'no number', path: ['n'] }] },
      },
    } as const
    const engine = createTestEngine({ agents: [agentOf('strict', async (input) => input, { input: schema })] })

    await expect(engine.run('strict', { body: { input: 'x' } })).rejects.toMatchObject({
      code: 'invalid-input',
      message: 'input.n: no number',
    })
    expect((await engine.storage.runs.list({}, { limit: 10, order: 'asc' }, EVERY_ROW)).items).toEqual([])
    expect(outcomeOf(await engine.run('strict', { body: { input: 1 } })).result).toBe(2)
  })

  it('rejects an unknown agent, and any run while the server drains', async () => {
    const engine = createTestEngine({ agents: [echo] })

    await expect(engine.run('nobody')).rejects.toMatchObject({ code: 'agent-not-found' })
    engine.phase.enter('draining')
    await expect(engine.run('echo')).rejects.toMatchObject({ kind: 'server-draining' })
  })

  it('answers 202 immediately if requested, and the run continues', async () => {
    const open = gate<string>()
    const engine = createTestEngine({ agents: [agentOf('slow', () => open.promise)] })

    const reply = await engine.run('slow', { answer: 'accepted' })

    expect(reply).toMatchObject({ status: 202, location: `/v1/runs/${reply.runId}` })
    expect(outcomeOf(reply)).toMatchObject({ status: 'running', finishReason: null })
    open.resolve('later')
    await untilIdle()
    expect(await engine.find(reply.runId ?? '')).toMatchObject({ status: 'completed', result: '"later"' })
  })

  it('answers 202 if the run has not ended within waitMs, and 200 if it has', async () => {
    const open = gate<string>()
    const engine = createTestEngine({ agents: [agentOf('slow', () => open.promise)] })

    const first = engine.run('slow', { waitMs: 1_000 })
    const second = engine.run('slow', { waitMs: 2_000 })
    await untilIdle()
    engine.clock.advance(1_000)
    expect((await first).status).toBe(202)
    open.resolve('done')
    expect(await second).toMatchObject({ status: 200 })
  })

  it.each([
    ['a type that is not a string', (context: RunContext) => context.emit(['a.b'] as never, {})],
    ['an unknown phase', (context: RunContext) => context.emit('a.b', {}, { phase: 'loud' as never })],
    ['a phase that is not a string', (context: RunContext) => context.emit('a.b', {}, { phase: {} as never })],
  ])('rejects an event with %s without failing the run', async (_, emit) => {
    const rude = agentOf('rude', async (__, context) => {
      context.emit('a.first', {})
      emit(context)
      return emit(context).catch((error: { kind: string }) => error.kind)
    })
    const engine = createTestEngine({ agents: [rude] })

    const reply = await engine.run('rude')

    expect(outcomeOf(reply)).toMatchObject({ status: 'completed', result: 'validation-failed' })
    expect((await engine.eventsOf(reply.runId ?? '')).map(({ type }) => type)).toEqual([
      'run.started',
      'a.first',
      'run.completed',
    ])
  })

  it('closes a generator when its run is aborted or one of its events is rejected', async () => {
    const closed: string[] = []
    const open = gate()
    const endless = agentOf('endless', async function* () {
      try {
        for (;;) {
          yield { type: 'tick.one' }
          await open.promise
        }
      } finally {
        closed.push('endless')
      }
    })
    const bad = agentOf('bad', async function* () {
      try {
        yield { type: 'run.completed' }
      } finally {
        closed.push('bad')
      }
    })
    const engine = createTestEngine({ agents: [endless, bad] })
    const { runId = '' } = await engine.run('endless', { answer: 'accepted' })
    await untilIdle()

    expect(outcomeOf(await engine.run('bad')).status).toBe('failed')
    await engine.abortRun({ runId, visibility: EVERY_ROW })
    open.resolve()
    await untilIdle()

    expect(closed).toEqual(['bad', 'endless'])
  })
})

import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, perdureError, type RunRecord } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import type { RetryOptions } from '../durable/step.ts'
import { NonRetryableError } from '../runs/non-retryable-error.ts'
import type { RegistrationOptions } from '../targets/registration.ts'
import type { RunContext } from '../targets/run-context.ts'
import { ALICE, agentOf, createTestEngine, gate, outcomeOf } from './test-engine.fixture.ts'

const RETRY: RetryOptions = { max: 2, delay: 1_000, jitter: 'none' }

type Code = (input: unknown, context: RunContext) => Promise<unknown>

async function startEngine(code: Code, over: Partial<RegistrationOptions> = {}, storage = createInMemoryStorage()) {
  const engine = createTestEngine({ agents: [agentOf('flaky', code, { retries: RETRY, ...over })], storage })
  await engine.start()
  return engine
}

type TestEngine = Awaited<ReturnType<typeof startEngine>>

const newest = async ({ storage }: TestEngine): Promise<RunRecord> => {
  const { items } = await storage.runs.list({}, { limit: 1, order: 'desc' }, EVERY_ROW)
  return items[0] as RunRecord
}

const typesOf = async (engine: TestEngine, runId: string) => (await engine.eventsOf(runId)).map(({ type }) => type)

const failing = (times: number, thrown: unknown = new Error('out of order')): Code => {
  let calls = 0
  return async () => {
    if (++calls <= times) throw thrown
    return calls
  }
}

describe('a registration with retry', () => {
  it('queues a failed run again after the delay, and answers the waiting caller with the last outcome', async () => {
    const engine = await startEngine(failing(2))
    const answer = engine.run('flaky')
    await engine.advance(0)

    const queued = await newest(engine)
    expect(queued).toMatchObject({ status: 'queued', attempt: 2, retries: 1, startAt: engine.clock.now() + 1_000 })
    await engine.advance(999)
    expect(await newest(engine)).toMatchObject({ status: 'queued', attempt: 2 })
    await engine.advance(1)
    expect(await newest(engine)).toMatchObject({ status: 'queued', attempt: 3, startAt: engine.clock.now() + 2_000 })
    await engine.advance(2_000)

    expect(outcomeOf(await answer)).toMatchObject({ status: 'completed', result: 3 })
    expect(await typesOf(engine, queued.id)).toEqual([
      ...['run.started', 'run.retrying', 'run.started', 'run.retrying', 'run.started', 'run.completed'],
    ])
  })

  it('tells the delay, the start time and the error of each failed attempt', async () => {
    const engine = await startEngine(failing(1))
    void engine.run('flaky')
    await engine.advance(0)

    const run = await newest(engine)
    const [event] = (await engine.eventsOf(run.id)).filter(({ type }) => type === 'run.retrying')
    expect(JSON.parse(event?.payload ?? '')).toEqual({
      ...{ runId: run.id, status: 'queued', attempt: 2, delayMs: 1_000 },
      startAt: new Date(engine.clock.now() + 1_000).toISOString(),
      error: { code: 'run-failed', message: 'out of order' },
    })
    expect(run.error).toBeUndefined()
  })

  it('fails the run with the error of the last attempt', async () => {
    const engine = await startEngine(failing(9))
    const answer = engine.run('flaky')
    for (const ms of [0, 1_000, 2_000]) await engine.advance(ms)

    expect(outcomeOf(await answer)).toMatchObject({ status: 'failed', error: { message: 'out of order' } })
    expect(await newest(engine)).toMatchObject({ attempt: 3, retries: 2 })
  })

  it('executes the failed step again, and no step that is recorded as completed', async () => {
    const calls: string[] = []
    const engine = await startEngine(async (_, { step, attempt }) => {
      await step('charge', () => void calls.push('charge'))
      return step(
        'mail',
        () => {
          calls.push(`mail ${attempt}`)
          if (attempt === 1) throw new Error('no route')
          return 'sent'
        },
        { onCrash: 'ask' },
      )
    })
    const answer = engine.run('flaky')
    for (const ms of [0, 1_000]) await engine.advance(ms)

    expect(outcomeOf(await answer)).toMatchObject({ status: 'completed', result: 'sent' })
    expect(calls).toEqual(['charge', 'mail 1', 'mail 2'])
    const steps = await engine.storage.steps.list((await newest(engine)).id)
    expect(steps).toMatchObject([
      { seq: 1, status: 'completed', endOrder: 1 },
      { seq: 2, status: 'completed', endOrder: 2, attempt: 2, error: undefined },
    ])
  })

  it('finds the failed step in the causes of the error that the code throws', async () => {
    let tries = 0
    const engine = await startEngine(async (_, { step }) => {
      try {
        return await step('mail', () => {
          if (++tries === 1) throw new Error('no route')
          return tries
        })
      } catch (cause) {
        throw new Error('could not mail', { cause })
      }
    })
    const answer = engine.run('flaky')
    for (const ms of [0, 1_000]) await engine.advance(ms)

    expect(outcomeOf(await answer)).toMatchObject({ status: 'completed', result: 2 })
  })

  it('aborts the code that the failed attempt left over, and drops its late results', async () => {
    const late = gate<string>()
    const reasons: unknown[] = []
    const engine = await startEngine(async (_, { step, signal, attempt }) => {
      signal.addEventListener('abort', () => void reasons.push(signal.reason))
      const slow = step('slow', () => (attempt === 1 ? late.promise : 'second'))
      slow.catch(() => undefined)
      if (attempt === 1) throw new Error('out of order')
      return slow
    })
    const answer = engine.run('flaky')
    await engine.advance(0)
    late.resolve('first')
    await engine.advance(1_000)

    expect(reasons).toEqual(['retried'])
    expect(outcomeOf(await answer)).toMatchObject({ status: 'completed', result: 'second' })
  })

  it.each([
    ['a NonRetryableError', new NonRetryableError('no such customer', { code: 'no-customer' }), 'no-customer'],
    ['an error that a NonRetryableError caused', new Error('m', { cause: new NonRetryableError('n') }), 'run-failed'],
    ['a failed validation', perdureError('validation-failed'), 'validation-failed'],
    ['a used-up budget', perdureError('budget-exhausted'), 'budget-exhausted'],
  ])('fails at once for %s', async (_, thrown, code) => {
    const engine = await startEngine(failing(9, thrown))

    expect(outcomeOf(await engine.run('flaky'))).toMatchObject({ status: 'failed', error: { code } })
    expect(await newest(engine)).toMatchObject({ status: 'failed', attempt: 1 })
  })

  it('fails at once for a result that is not valid', async () => {
    const engine = await startEngine(async () => 'x'.repeat(2_000))

    expect(outcomeOf(await engine.run('flaky'))).toMatchObject({ error: { code: 'validation-failed' } })
  })

  it('tries a step no further that throws a NonRetryableError', async () => {
    let tries = 0
    const fail = () => {
      tries++
      throw new NonRetryableError('no such customer')
    }
    const engine = await startEngine((_, { step }) => step('look up', fail, { retries: 4 }))

    expect(outcomeOf(await engine.run('flaky'))).toMatchObject({ status: 'failed', error: { code: 'step-failed' } })
    expect(tries).toBe(1)
  })

  it('releases the slot during the delay', async () => {
    const engine = await startEngine(failing(1), { concurrency: 'single' })
    void engine.run('flaky')
    await engine.advance(0)

    expect(outcomeOf(await engine.run('flaky'))).toMatchObject({ status: 'completed' })
  })

  it('answers 202 to a caller whose wait ends during the delay', async () => {
    const engine = await startEngine(failing(1))
    const answer = engine.run('flaky', { waitMs: 100 })
    await engine.advance(0)
    await engine.advance(100)

    const reply = await answer
    expect(reply.status).toBe(202)
    expect(outcomeOf(reply)).toMatchObject({ status: 'queued' })
  })

  it('answers 202 to a caller that waits when the server stops during the delay', async () => {
    const engine = await startEngine(failing(1))
    const answer = engine.run('flaky')
    await engine.advance(0)
    await engine.drain(0)
    await engine.release()

    expect((await answer).status).toBe(202)
  })

  it('lets a run be aborted during the delay', async () => {
    const engine = await startEngine(failing(1))
    const answer = engine.run('flaky')
    await engine.advance(0)
    const { id: runId } = await newest(engine)
    await engine.abortRun({ runId, principal: ALICE, visibility: EVERY_ROW, reason: 'enough' })
    await engine.advance(60_000)

    expect(outcomeOf(await answer)).toMatchObject({ status: 'aborted' })
    expect(await typesOf(engine, runId)).toEqual(['run.started', 'run.retrying', 'run.aborted'])
  })

  it('starts a run in the next process when its delay is over, and not earlier', async () => {
    const storage = createInMemoryStorage()
    const before = await startEngine(failing(1), {}, storage)
    void before.run('flaky')
    await before.advance(0)
    const run = await newest(before)

    const { clock } = before
    await before.drain(0)
    const after = createTestEngine({
      agents: [agentOf('flaky', async () => 'done', { retries: RETRY })],
      storage,
      clock,
    })
    await after.recover()
    await after.start()
    await after.advance(999)
    expect((await after.find(run.id))?.status).toBe('queued')
    await after.advance(1)
    expect(await after.find(run.id)).toMatchObject({ status: 'completed', attempt: 2 })
  })

  it('starts a run in the next process when its delay is already over', async () => {
    const storage = createInMemoryStorage()
    const before = await startEngine(failing(1), {}, storage)
    void before.run('flaky')
    await before.advance(0)
    const run = await newest(before)
    await before.drain(0)
    const { clock } = before
    clock.advance(5_000)

    const after = createTestEngine({
      agents: [agentOf('flaky', async () => 'done', { retries: RETRY })],
      storage,
      clock,
    })
    await after.recover()
    await after.start()
    await after.advance(0)
    expect(await after.find(run.id)).toMatchObject({ status: 'completed', attempt: 2 })
  })

  it('counts attempts after an error apart from attempts after a crash', async () => {
    const storage = createInMemoryStorage()
    const hang = gate()
    const code: Code = async (_, { attempt }) => (attempt <= 2 ? Promise.reject(new Error('m')) : hang.promise)
    const options = { onCrash: 'retry', recoveries: 1 } as const
    const first = await startEngine(code, options, storage)
    void first.run('flaky')
    for (const ms of [0, 1_000, 2_000]) await first.advance(ms)
    const { id } = await newest(first)
    expect(await newest(first)).toMatchObject({ status: 'running', attempt: 3, retries: 2 })

    const second = createTestEngine({ agents: [agentOf('flaky', code, { retries: RETRY, ...options })], storage })
    expect(await second.recover()).toEqual({ interrupted: 0, requeued: 1 })
    expect(await second.find(id)).toMatchObject({ status: 'queued', attempt: 4, retries: 2 })
  })

  it('starts a run whose start time passes while the driver fires other timers', async () => {
    const engine = createTestEngine({
      agents: [
        agentOf('flaky', failing(1), { retries: RETRY }),
        agentOf('sleeper', (_, { sleep }) => sleep('nap', 500)),
      ],
    })
    await engine.start()
    const answer = engine.run('flaky')
    void engine.run('sleeper')
    await engine.advance(0)

    // The clock stops at 500 ms and then at 1,000 ms, without a turn of the event loop in between.
    await engine.advance(1_000)

    expect(outcomeOf(await answer)).toMatchObject({ status: 'completed', result: 2 })
  })

  it('starts each of many runs that are due at the same time', async () => {
    const engine = createTestEngine({
      agents: [
        agentOf('flaky', async (_, { attempt }) => (attempt === 1 ? Promise.reject(new Error('m')) : attempt), {
          retries: RETRY,
        }),
      ],
      maxQueued: 1_000,
      concurrency: 8,
    })
    await engine.start()
    const answers = Array.from({ length: 450 }, () => engine.run('flaky'))
    for (let turn = 0; turn < 100; turn++) await engine.advance(0)
    await engine.advance(1_000)
    for (let turn = 0; turn < 100; turn++) await engine.advance(0)

    const outcomes = (await Promise.all(answers)).map(outcomeOf)
    expect(outcomes.filter(({ status, result }) => status === 'completed' && result === 2)).toHaveLength(450)
  })
})

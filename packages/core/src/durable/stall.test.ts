import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, untilIdle } from '../engine/test-engine.fixture.ts'
import type { RegistrationOptions } from '../targets/registration.ts'
import type { RunContext } from '../targets/run-context.ts'

const MINUTE = 60_000

/** A stream whose parts the test sends. */
function heldStream() {
  let controller: ReadableStreamDefaultController<string> | undefined
  const stream = new ReadableStream<string>({
    start(given) {
      controller = given
    },
  })
  return { stream, send: (text: string) => controller?.enqueue(text), close: () => controller?.close() }
}

async function started(code: (context: RunContext) => Promise<unknown>, options: Partial<RegistrationOptions> = {}) {
  const engine = createTestEngine({ agents: [agentOf('a', (_, context) => code(context), options)] })
  const { runId = '' } = await engine.run('a', { answer: 'accepted' })
  await untilIdle(engine.clock)
  return { ...engine, find: () => engine.find(runId), events: () => engine.eventsOf(runId) }
}

describe('a model call that sends nothing', () => {
  it('fails after 10 minutes', async () => {
    const run = await started((context) => context.stream('answer', () => heldStream().stream))

    await run.advance(10 * MINUTE - 1)
    expect((await run.find())?.status).toBe('running')
    await run.advance(1)

    expect(await run.find()).toMatchObject({
      status: 'failed',
      error: { code: 'step-failed', message: 'answer: the model sent nothing for 600000 ms' },
    })
  })

  it('fails before its first part too, while the provider has not answered', async () => {
    const run = await started((context) => context.stream('answer', () => new Promise<never>(() => undefined)))
    await run.advance(10 * MINUTE)

    expect((await run.find())?.status).toBe('failed')
  })

  it('goes on as long as it sends something now and then', async () => {
    const held = heldStream()
    const run = await started((context) => context.stream('answer', () => held.stream))
    for (let minutes = 0; minutes < 60; minutes += 9) {
      held.send('x')
      await untilIdle(run.clock)
      await run.advance(9 * MINUTE)
    }
    held.close()
    await untilIdle(run.clock)

    expect((await run.find())?.status).toBe('completed')
  })

  it('aborts the signal of the call, and is tried again', async () => {
    const signals: AbortSignal[] = []
    const run = await started((context) =>
      context.stream(
        'answer',
        async ({ signal }) => {
          signals.push(signal)
          return signals.length === 1 ? heldStream().stream : ReadableStream.from(['done'])
        },
        { retries: { max: 1, delay: 0 } },
      ),
    )
    await run.advance(10 * MINUTE)
    await run.advance(1)

    expect(await run.find()).toMatchObject({ status: 'completed' })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    const [error] = (await run.events()).filter(({ type }) => type === 'step.error').map(({ payload }) => payload)
    expect(JSON.parse(error ?? '')).toMatchObject({ willRetry: true, error: { code: 'transient' } })
  })

  it('lets the run try again by the retries of its registration', async () => {
    let calls = 0
    const run = await started(
      (context) =>
        context.stream('answer', () => (++calls === 1 ? heldStream().stream : ReadableStream.from(['done']))),
      { retries: { max: 1, delay: 1 }, stallTimeout: '1m' },
    )
    await run.start()
    await run.advance(MINUTE)
    await run.advance(10)

    expect(await run.find()).toMatchObject({ status: 'completed', attempt: 2 })
  })

  it.each<[string, Pick<RegistrationOptions, 'stallTimeout'>, Pick<RegistrationOptions, 'stallTimeout'>]>([
    ['of the registration', {}, { stallTimeout: '30s' }],
    ['of the step', { stallTimeout: '30s' }, { stallTimeout: '1h' }],
  ])('fails after the stallTimeout %s', async (_, stepOptions, options) => {
    const run = await started((context) => context.stream('answer', () => heldStream().stream, stepOptions), options)
    await run.advance(30_000)

    expect((await run.find())?.status).toBe('failed')
  })

  it('is no matter of a step without a model, unless the step says so', async () => {
    const never = () => new Promise<never>(() => undefined)
    const patient = await started((context) => context.step('wait', never))
    const watched = await started((context) => context.step('wait', never, { stallTimeout: '1m' }))
    await patient.advance(600 * MINUTE)
    await watched.advance(MINUTE)

    expect((await patient.find())?.status).toBe('running')
    expect((await watched.find())?.error?.message).toBe('wait: the step sent nothing for 60000 ms')
  })

  it('goes on in a step that reports progress', async () => {
    const gate = Promise.withResolvers<void>()
    const calls: { progress(): void }[] = []
    const run = await started((context) =>
      context.step(
        'wait',
        (call) => {
          calls.push(call)
          return gate.promise
        },
        { stallTimeout: '1m' },
      ),
    )
    for (let n = 0; n < 5; n++) {
      calls[0]?.progress()
      await run.advance(50_000)
    }
    gate.resolve()
    await untilIdle(run.clock)

    expect((await run.find())?.status).toBe('completed')
  })

  it('is refused with an invalid time', async () => {
    const run = await started((context) => context.step('x', () => 1, { stallTimeout: 0 }))
    expect((await run.find())?.error).toMatchObject({ code: 'validation-failed' })
    expect(() =>
      createTestEngine({ agents: [agentOf('a', async () => 1, { stallTimeout: 'soon' as never })] }),
    ).toThrow('stallTimeout must be')
  })
})

import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, outcomeOf, untilIdle } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'

const cycle: Record<string, unknown> = {}
cycle.self = cycle

/** Runs code that passes arguments which the types forbid, and returns the outcome. */
async function runUntyped(code: (context: Loose) => unknown) {
  const engine = createTestEngine({
    agents: [
      agentOf('a', async (_, context) =>
        context.resume === undefined ? code(context as unknown as Loose) : 'resumed',
      ),
    ],
  })
  const reply = engine.run('a')
  await untilIdle(engine.clock)
  const outcome = outcomeOf(await reply)
  return { ...outcome, engine, steps: await engine.storage.steps.list(outcome.runId) }
}

/** The context without its types. */
type Loose = Omit<RunContext, LooseName> & {
  readonly [Name in LooseName]: (...given: readonly unknown[]) => Promise<unknown>
}
type LooseName = 'step' | 'tool' | 'suspend' | 'approval' | 'waitForEvent' | 'emit' | 'usage' | 'sleep'

describe('a durable call', () => {
  const execute = () => 1
  it.each<[string, (context: Loose) => unknown, string[]]>([
    [
      'a step',
      ({ step }) => step('s', execute, { retires: 3 }),
      ['retires', 'retries', 'recoveries', 'timeout', 'onCrash'],
    ],
    [
      'a retry policy',
      ({ step }) => step('s', execute, { retries: { max: 3, dellay: 1 } as never }),
      ['dellay', 'delay'],
    ],
    ['an approval', ({ approval }) => approval('a', { titel: 'x' }), ['titel', 'title', 'payload']],
    ['a tool', ({ tool }) => tool({ name: 't', execute, arguments: {} }), ['arguments', 'args', 'onCrash']],
    ['the approval of a tool', ({ tool }) => tool({ name: 't', execute, approval: { by: 'me' } }), ['by', 'title']],
    ['a wait', ({ waitForEvent }) => waitForEvent('go', { timeuot: 1 } as never), ['timeuot', 'timeout']],
    ['an event', ({ emit }) => emit('note.made', {}, { phas: 'commentary' }), ['phas', 'did you mean phase']],
    ['usage', ({ usage }) => usage({ provider: 'p', model: 'm', cost: 1 }), ['cost', 'costUsd']],
    ['a suspension', ({ suspend }) => suspend({ approval: [] }), ['approval', 'did you mean approvals']],
    ['an approval of a suspension', ({ suspend }) => suspend({ approvals: [{ name: 'a', titel: 'x' }] }), ['titel']],
  ])('rejects an unknown member of %s, names it, and lists or suggests the known members', async (_, code, words) => {
    const { status, error, steps } = await runUntyped(async (context) => code(context))

    expect({ status, error }).toMatchObject({ status: 'failed', error: { code: 'validation-failed' } })
    for (const word of words) expect(error?.message).toContain(word)
    expect(steps).toEqual([])
  })
})

describe('ctx.sleep', () => {
  it.each([
    ['a duration', [1_000], 'number'],
    ['nothing', [], 'undefined'],
  ])('asks for the name when the first argument is %s', async (_, given, type) => {
    const { status, error, steps } = await runUntyped(({ sleep }) => sleep(...given))

    expect({ status, error }).toMatchObject({
      status: 'failed',
      error: { message: `the first argument of a durable call must be its name, not a value of type ${type}` },
    })
    expect(steps).toEqual([])
  })

  it('asks for the duration when only the name is given', async () => {
    const { error } = await runUntyped(({ sleep }) => sleep('a second'))

    expect(error?.message).toBe('ctx.sleep needs a duration or a Date after its name')
  })
})

describe('ctx.step', () => {
  it.each([
    ['code that is not a function', ['s', 'no code']],
    ['options that are not an object', ['s', () => 1, 7]],
    ['an unknown onCrash', ['s', () => 1, { onCrash: 'sometimes' }]],
    ['a timeout of 0', ['s', () => 1, { timeout: 0 }]],
    ['a timeout that is not a number', ['s', () => 1, { timeout: Number.NaN }]],
    ['an infinite timeout', ['s', () => 1, { timeout: Number.POSITIVE_INFINITY }]],
    ['a retry policy that is not an object', ['s', () => 1, { retries: 'often' }]],
    ['a fractional number of attempts', ['s', () => 1, { retries: { max: 0.5 } }]],
    ['an infinite number of attempts', ['s', () => 1, { retries: { max: Number.POSITIVE_INFINITY } }]],
    ['a negative delay', ['s', () => 1, { retries: { max: 1, delay: -1 } }]],
    ['a maximum delay that is not a number', ['s', () => 1, { retries: { max: 1, maxDelay: Number.NaN } }]],
    ['a factor below 1', ['s', () => 1, { retries: { max: 1, factor: 0.5 } }]],
  ])('rejects a call with %s and stores no step', async (_, given) => {
    const { status, error, steps } = await runUntyped(({ step }) => step(...given))

    expect({ status, error }).toMatchObject({ status: 'failed', error: { code: 'validation-failed' } })
    expect(steps).toEqual([])
  })

  it('accepts a timeout beyond the range of platform timers', async () => {
    const { status } = await runUntyped(({ step }) => step('s', () => 1, { timeout: 40 * 86_400_000 }))

    expect(status).toBe('completed')
  })
})

describe('ctx.suspend', () => {
  it.each([
    ['a request that is not an object', 'please'],
    ['approvals that are not an array', { approvals: { name: 'a' } }],
    ['an approval that is not an object', { approvals: ['a'] }],
    ['an undefined approval', { approvals: [undefined] }],
    ['an approval without a name', { approvals: [{ title: 'x' }] }],
    ['a title that is not a string', { approvals: [{ name: 'a', title: 7 }] }],
    ['a payload that is not JSON', { approvals: [{ name: 'a', payload: 1n }] }],
    ['a payload over the limit', { approvals: [{ name: 'a', payload: 'x'.repeat(300_000) }] }],
    ['a negative timeout', { approvals: [{ name: 'a', timeout: -1 }] }],
    ['an invalid toolCallId', { approvals: [{ name: 'a', toolCallId: 7 }] }],
    ['too many approvals', { approvals: Array.from({ length: 101 }, (_, n) => ({ name: `a${n}` })) }],
    ['a circular state', { state: cycle }],
    ['a state with a BigInt', { state: { n: 1n } }],
    ['a state over the limit', { state: 'x'.repeat(2_000) }],
  ])('rejects a call with %s', async (_, request) => {
    const { status, error } = await runUntyped(({ suspend }) => suspend(request))

    expect({ status, error }).toMatchObject({ status: 'failed', error: { code: 'validation-failed' } })
  })

  it('ignores changes that are made to its arguments after the call', async () => {
    const state: Record<string, unknown> = { n: 1 }
    const { status, approvals } = await runUntyped(({ suspend }) => {
      const suspension = suspend({ approvals: [{ name: 'a' }], state })
      state.self = state
      return suspension
    })

    expect({ status, approvals }).toMatchObject({ status: 'suspended', approvals: [{ name: 'a' }] })
  })

  it('can be called again after a rejected call', async () => {
    const { status } = await runUntyped(({ suspend }) => {
      try {
        return suspend({ approvals: 7 })
      } catch {
        return suspend()
      }
    })

    expect(status).toBe('suspended')
  })
})

describe('ctx.tool', () => {
  it.each<[string, unknown[]]>([
    ['a missing argument', [undefined]],
    ['a missing execute function', [{ name: 't' }]],
    ['an invalid timeout', [{ name: 't', execute: () => 1, timeout: -5 }]],
    ['an unknown onCrash', [{ name: 't', execute: () => 1, onCrash: 'sometimes' }]],
    ['an invalid approval', [{ name: 't', execute: () => 1, approval: 'yes' }]],
    ['an approval that expires in the past', [{ name: 't', execute: () => 1, approval: { timeout: -5 } }]],
    ['a missing name', [{ execute: () => 1 }]],
  ])('rejects a call with %s and stores no step', async (_, given) => {
    const { status, error, steps } = await runUntyped(({ tool }) => tool(...given))

    expect({ status, error }).toMatchObject({ status: 'failed', error: { code: 'validation-failed' } })
    expect(steps).toEqual([])
  })

  it.each<[string, () => unknown]>([
    ['a BigInt', () => 1n],
    ['a circular value', () => cycle],
    ['a result over the limit', () => 'x'.repeat(2_000)],
    [
      'a value that cannot be serialized',
      () => ({
        toJSON() {
          throw new Error('unreadable')
        },
      }),
    ],
  ])('returns the error invalid_output for %s', async (_, execute) => {
    const { result, engine, runId } = await runUntyped(({ tool }) => tool({ name: 't', execute }))

    expect(result).toEqual({ ok: false, error: { kind: 'invalid_output', message: expect.any(String) } })
    expect((await engine.eventsOf(runId)).map(({ type }) => type)).toContain('tool.execute.error')
  })

  it('returns the error invalid_input for arguments that are not JSON, without executing the tool', async () => {
    let calls = 0
    const call = { name: 't', args: cycle, execute: () => ++calls, approval: true }
    const { result } = await runUntyped(({ tool }) => tool(call))

    expect(result).toEqual({ ok: false, error: { kind: 'invalid_input', message: expect.any(String) } })
    expect(calls).toBe(0)
  })
})

describe('ctx.approval', () => {
  it.each([
    ['a payload that is not JSON', { payload: cycle }],
    ['a title that is not a string', { title: {} }],
    ['an infinite timeout', { timeout: Number.POSITIVE_INFINITY }],
  ])('rejects a call with %s and stores no step', async (_, options) => {
    const { error, steps } = await runUntyped(({ approval }) => approval('a', options))

    expect(error).toMatchObject({ code: 'validation-failed' })
    expect(steps).toEqual([])
  })
})

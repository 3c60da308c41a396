import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, outcomeOf, settled } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/agent.ts'

const cycle: Record<string, unknown> = {}
cycle.self = cycle

/** What a run comes to whose code hands over something that its types forbid. */
async function comesTo(code: (context: Loose) => unknown) {
  const engine = createTestEngine({
    agents: [
      agentOf('a', async (_, context) =>
        context.resume === undefined ? code(context as unknown as Loose) : 'resumed',
      ),
    ],
  })
  const reply = engine.run('a')
  await settled(engine.clock)
  const outcome = outcomeOf(await reply)
  return { ...outcome, engine, steps: await engine.storage.steps.list(outcome.runId) }
}

/** The context without its types. */
type Loose = Omit<RunContext, LooseName> & {
  readonly [Name in LooseName]: (...given: readonly unknown[]) => Promise<unknown>
}
type LooseName = 'step' | 'tool' | 'suspend' | 'approval' | 'waitForEvent' | 'emit' | 'usage'

describe('a member that means nothing', () => {
  const execute = () => 1
  it.each<[string, (context: Loose) => unknown, string[]]>([
    ['of a step', ({ step }) => step('s', execute, { retires: 3 }), ['retires', 'retry', 'timeoutMs', 'onCrash']],
    ['of a retry', ({ step }) => step('s', execute, { retry: { maxAttempt: 3 } }), ['maxAttempt', 'maxAttempts']],
    ['of an approval', ({ approval }) => approval('a', { titel: 'x' }), ['titel', 'title', 'payload']],
    ['of a tool', ({ tool }) => tool({ name: 't', execute, arguments: {} }), ['arguments', 'args', 'onCrash']],
    ['of the approval of a tool', ({ tool }) => tool({ name: 't', execute, approval: { by: 'me' } }), ['by', 'title']],
    ['of a wait', ({ waitForEvent }) => waitForEvent('go', { timeout: 1 }), ['timeout', 'timeoutMs']],
    ['of an event', ({ emit }) => emit('note.made', {}, { phas: 'commentary' }), ['phas', 'did you mean phase']],
    ['of usage', ({ usage }) => usage({ provider: 'p', model: 'm', cost: 1 }), ['cost', 'costUsd']],
    ['of a suspension', ({ suspend }) => suspend({ approval: [] }), ['approval', 'did you mean approvals']],
    ['of what a suspension asks', ({ suspend }) => suspend({ approvals: [{ name: 'a', titel: 'x' }] }), ['titel']],
  ])('%s is refused at the call by its name, with those that are known', async (_, code, words) => {
    const { status, error, steps } = await comesTo(async (context) => code(context))

    expect({ status, error }).toMatchObject({ status: 'failed', error: { kind: 'validation-failed' } })
    for (const word of words) expect(error?.message).toContain(word)
    expect(steps).toEqual([])
  })
})

describe('a step', () => {
  it.each([
    ['code that is no function', ['s', 'no code']],
    ['options that are no object', ['s', () => 1, 7]],
    ['an unknown onCrash', ['s', () => 1, { onCrash: 'sometimes' }]],
    ['no time at all', ['s', () => 1, { timeoutMs: 0 }]],
    ['a time-out that is no number', ['s', () => 1, { timeoutMs: Number.NaN }]],
    ['a time-out without an end', ['s', () => 1, { timeoutMs: Number.POSITIVE_INFINITY }]],
    ['retry that is no object', ['s', () => 1, { retry: 3 }]],
    ['half a try', ['s', () => 1, { retry: { maxAttempts: 1.5 } }]],
    ['endless tries', ['s', () => 1, { retry: { maxAttempts: Number.POSITIVE_INFINITY } }]],
    ['a delay that is negative', ['s', () => 1, { retry: { initialDelayMs: -1 } }]],
    ['a longest delay that is no number', ['s', () => 1, { retry: { maxDelayMs: Number.NaN } }]],
    ['a factor that shrinks', ['s', () => 1, { retry: { factor: 0.5 } }]],
  ])('with %s is refused at the call, and takes no place', async (_, given) => {
    const { status, error, steps } = await comesTo(({ step }) => step(...given))

    expect({ status, error }).toMatchObject({ status: 'failed', error: { kind: 'validation-failed' } })
    expect(steps).toEqual([])
  })

  it('may take longer than a timer of the platform can wait', async () => {
    const { status } = await comesTo(({ step }) => step('s', () => 1, { timeoutMs: 40 * 86_400_000 }))

    expect(status).toBe('completed')
  })
})

describe('a suspension', () => {
  it.each([
    ['what is no object', 'please'],
    ['approvals that are no array', { approvals: { name: 'a' } }],
    ['an approval that is no object', { approvals: ['a'] }],
    ['a missing approval', { approvals: [undefined] }],
    ['an approval without a name', { approvals: [{ title: 'x' }] }],
    ['a title that is no text', { approvals: [{ name: 'a', title: 7 }] }],
    ['a payload that is no JSON', { approvals: [{ name: 'a', payload: 1n }] }],
    ['a payload over the limit', { approvals: [{ name: 'a', payload: 'x'.repeat(300_000) }] }],
    ['a time-out that is negative', { approvals: [{ name: 'a', timeoutMs: -1 }] }],
    ['an odd tool call', { approvals: [{ name: 'a', toolCallId: 7 }] }],
    ['too many approvals', { approvals: Array.from({ length: 101 }, (_, n) => ({ name: `a${n}` })) }],
    ['a state that refers to itself', { state: cycle }],
    ['a state with a BigInt', { state: { n: 1n } }],
    ['a state over the limit', { state: 'x'.repeat(2_000) }],
  ])('with %s is refused at the call', async (_, request) => {
    const { status, error } = await comesTo(({ suspend }) => suspend(request))

    expect({ status, error }).toMatchObject({ status: 'failed', error: { kind: 'validation-failed' } })
  })

  it('is as it was at the call, whatever becomes of what it was given', async () => {
    const state: Record<string, unknown> = { n: 1 }
    const { status, approvals } = await comesTo(({ suspend }) => {
      const suspension = suspend({ approvals: [{ name: 'a' }], state })
      state.self = state
      return suspension
    })

    expect({ status, approvals }).toMatchObject({ status: 'suspended', approvals: [{ name: 'a' }] })
  })

  it('can be caught and done better', async () => {
    const { status } = await comesTo(({ suspend }) => {
      try {
        return suspend({ approvals: 7 })
      } catch {
        return suspend()
      }
    })

    expect(status).toBe('suspended')
  })
})

describe('a tool', () => {
  it.each<[string, unknown[]]>([
    ['nothing', [undefined]],
    ['no code', [{ name: 't' }]],
    ['an odd time-out', [{ name: 't', execute: () => 1, timeoutMs: -5 }]],
    ['an unknown onCrash', [{ name: 't', execute: () => 1, onCrash: 'sometimes' }]],
    ['an odd approval', [{ name: 't', execute: () => 1, approval: 'yes' }]],
    ['an approval that expires in the past', [{ name: 't', execute: () => 1, approval: { timeoutMs: -5 } }]],
    ['no name', [{ execute: () => 1 }]],
  ])('of %s is refused at the call, and takes no place', async (_, given) => {
    const { status, error, steps } = await comesTo(({ tool }) => tool(...given))

    expect({ status, error }).toMatchObject({ status: 'failed', error: { kind: 'validation-failed' } })
    expect(steps).toEqual([])
  })

  it.each<[string, () => unknown]>([
    ['a BigInt', () => 1n],
    ['a cycle', () => cycle],
    ['more than may be recorded', () => 'x'.repeat(2_000)],
    [
      'a value that cannot be read',
      () => ({
        toJSON() {
          throw new Error('unreadable')
        },
      }),
    ],
  ])('that comes to %s has failed with invalid_output', async (_, execute) => {
    const { result, engine, runId } = await comesTo(({ tool }) => tool({ name: 't', execute }))

    expect(result).toEqual({ ok: false, error: { kind: 'invalid_output', message: expect.any(String) } })
    expect((await engine.eventsOf(runId)).map(({ type }) => type)).toContain('tool.execute.error')
  })

  it('with arguments that are no JSON has failed with invalid_input, and is not called', async () => {
    let calls = 0
    const call = { name: 't', args: cycle, execute: () => ++calls, approval: true }
    const { result } = await comesTo(({ tool }) => tool(call))

    expect(result).toEqual({ ok: false, error: { kind: 'invalid_input', message: expect.any(String) } })
    expect(calls).toBe(0)
  })
})

describe('an approval', () => {
  it.each([
    ['a payload that is no JSON', { payload: cycle }],
    ['a title that is no text', { title: {} }],
    ['a time-out without an end', { timeoutMs: Number.POSITIVE_INFINITY }],
  ])('with %s is refused at the call, and takes no place', async (_, options) => {
    const { error, steps } = await comesTo(({ approval }) => approval('a', options))

    expect(error).toMatchObject({ kind: 'validation-failed' })
    expect(steps).toEqual([])
  })
})

import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, outcomeOf, untilIdle } from '../engine/test-engine.fixture.ts'
import { fallback } from '../providers/fallback.ts'
import { createRetry } from '../providers/retry.ts'
import type { RunContext } from '../targets/run-context.ts'

const fail = () => {
  throw new Error('trap')
}
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
const everyTrap = () =>
  new Proxy({}, { getPrototypeOf: fail, get: fail, has: fail, ownKeys: fail, getOwnPropertyDescriptor: fail })

const HOSTILE: readonly (readonly [string, () => unknown])[] = [
  ['a proxy that throws on every access', everyTrap],
  ['a proxy whose prototype cannot be read', () => new Proxy(new Error('x'), { getPrototypeOf: fail })],
  ['a revoked proxy', revoked],
  ['a function that cannot be converted to text', () => Object.assign(() => 1, { toString: fail, code: 5 })],
  ['null', () => null],
  ['undefined', () => undefined],
  ['a symbol', () => Symbol('s')],
  ['an error with a throwing getter', () => Object.defineProperty(new Error('y'), 'code', { get: fail })],
  ['an error with a huge message', () => new Error('z'.repeat(5_000_000))],
]

const throwers: readonly (readonly [string, (context: RunContext, thrown: unknown) => Promise<unknown>, string])[] = [
  ['the code of a run', async (_, thrown) => Promise.reject(thrown), 'failed'],
  ['a step', ({ step }, thrown) => step('s', () => Promise.reject(thrown)), 'failed'],
  [
    'a step with retries',
    ({ step }, thrown) => step('s', () => Promise.reject(thrown), { retries: { max: 1, delay: 0 } }),
    'failed',
  ],
  ['a tool', ({ tool }, thrown) => tool({ name: 't', execute: () => Promise.reject(thrown) }), 'completed'],
  [
    'a tool with a timeout',
    ({ tool }, thrown) => tool({ name: 't', timeout: 50, execute: () => Promise.reject(thrown) }),
    'completed',
  ],
]

describe.each(HOSTILE)('a thrown value: %s', (_, make) => {
  it.each(throwers)('is reported as a failure when thrown by %s', async (_thrower, code, status) => {
    const engine = createTestEngine({ agents: [agentOf('a', (_input, context) => code(context, make()))] })

    const reply = engine.run('a')
    await untilIdle(engine.clock)
    const { status: came, error, result } = outcomeOf(await reply)

    expect(came).toBe(status)
    const message = error?.message ?? (result as { error: { message: string } }).error.message
    expect(message.length).toBeLessThanOrEqual(4_200)
    expect(message).not.toContain('could not record')
  })

  it('passes unchanged through retry and fallback', async () => {
    const thrown = make()
    const retry = createRetry({
      timers: { after: () => fail() },
      clock: { now: fail, monotonicMs: fail },
      random: fail,
    })
    const caught = (work: Promise<unknown>) => work.then(fail, (error: unknown) => [error])

    expect(Object.is((await caught(retry(() => Promise.reject(thrown))))[0], thrown)).toBe(true)
    const candidates = [
      () => Promise.reject(Object.assign(new Error('1'), { retryable: true })),
      () => Promise.reject(thrown),
    ]
    expect(Object.is((await caught(fallback(candidates)))[0], thrown)).toBe(true)
  })
})

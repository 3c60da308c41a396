import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, outcomeOf, settled } from '../engine/test-engine.fixture.ts'
import { fallback } from '../providers/fallback.ts'
import { createRetry } from '../providers/retry.ts'
import type { RunContext } from '../targets/agent.ts'

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
  ['a proxy that throws whatever is asked', everyTrap],
  ['a proxy without a prototype to be read', () => new Proxy(new Error('x'), { getPrototypeOf: fail })],
  ['a revoked proxy', revoked],
  ['a function whose text cannot be read', () => Object.assign(() => 1, { toString: fail, code: 5 })],
  ['null', () => null],
  ['nothing', () => undefined],
  ['a symbol', () => Symbol('s')],
  ['getters that throw', () => Object.defineProperty(new Error('y'), 'code', { get: fail })],
  ['a huge message', () => new Error('z'.repeat(5_000_000))],
]

const places: readonly (readonly [string, (context: RunContext, thrown: unknown) => Promise<unknown>, string])[] = [
  ['the code of a run', async (_, thrown) => Promise.reject(thrown), 'failed'],
  ['a step', ({ step }, thrown) => step('s', () => Promise.reject(thrown)), 'failed'],
  [
    'a step that is tried again',
    ({ step }, thrown) => step('s', () => Promise.reject(thrown), { retry: { maxAttempts: 2, initialDelayMs: 0 } }),
    'failed',
  ],
  ['a tool', ({ tool }, thrown) => tool({ name: 't', execute: () => Promise.reject(thrown) }), 'completed'],
  [
    'a tool with a time-out',
    ({ tool }, thrown) => tool({ name: 't', timeoutMs: 50, execute: () => Promise.reject(thrown) }),
    'completed',
  ],
]

describe.each(HOSTILE)('%s', (_, make) => {
  it.each(places)('thrown by %s is told as a failure', async (_place, code, status) => {
    const engine = createTestEngine({ agents: [agentOf('a', (_input, context) => code(context, make()))] })

    const reply = engine.run('a')
    await settled(engine.clock)
    const { status: came, error, result } = outcomeOf(await reply)

    expect(came).toBe(status)
    const message = error?.message ?? (result as { error: { message: string } }).error.message
    expect(message.length).toBeLessThanOrEqual(4_200)
    expect(message).not.toContain('could not record')
  })

  it('leaves retry and fallback as it came', async () => {
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

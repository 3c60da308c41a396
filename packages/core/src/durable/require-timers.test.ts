import { createInMemoryStorage } from '@perdure/in-memory'
import type { Storage } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, outcomeOf, settled } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/agent.ts'

const DAY_MS = 86_400_000

async function comesTo(storage: Storage, code: (context: RunContext) => unknown) {
  const engine = createTestEngine({ storage, agents: [agentOf('a', async (_, context) => code(context))] })
  await engine.start()
  const reply = engine.run('a')
  await settled(engine.clock)
  return { engine, outcome: outcomeOf(await reply) }
}

const withoutTimers = (): Storage => {
  const storage = createInMemoryStorage()
  return { ...storage, steps: { ...storage.steps, due: undefined as never, nextDueAt: undefined as never } }
}

describe('a storage that cannot tell what is due', () => {
  it.each([
    ['a sleep', ({ sleep }: RunContext) => sleep('nap', 1)],
    ['a wait with a time-out', ({ waitForEvent }: RunContext) => waitForEvent('go', { timeoutMs: 1 })],
    ['an approval that expires', ({ approval }: RunContext) => approval('a', { timeoutMs: 1 })],
    ['a suspension that expires', ({ suspend }: RunContext) => suspend({ approvals: [{ name: 'a', timeoutMs: 1 }] })],
  ])('refuses %s instead of never ending it', async (_, code) => {
    const { outcome } = await comesTo(withoutTimers(), code)

    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'timer-driver-store-unsupported' } })
  })

  it.each([
    ['an event', ({ waitForEvent }: RunContext) => waitForEvent('go')],
    ['a decision', ({ approval }: RunContext) => approval('a')],
    ['a resume', ({ suspend }: RunContext) => suspend()],
  ])('lets a run wait for %s', async (_, code) => {
    expect((await comesTo(withoutTimers(), code)).outcome.status).toBe('suspended')
  })
})

describe('a time beyond what a timer of the platform can wait', () => {
  it.each([
    ['a sleep', ({ sleep }: RunContext) => sleep('nap', 40 * DAY_MS)],
    ['a wait', ({ waitForEvent }: RunContext) => waitForEvent('go', { timeoutMs: 40 * DAY_MS })],
    ['an approval', ({ approval }: RunContext) => approval('a', { timeoutMs: 40 * DAY_MS })],
    [
      'an approval of a suspension',
      ({ suspend, resume }: RunContext) =>
        resume === undefined ? suspend({ approvals: [{ name: 'a', timeoutMs: 40 * DAY_MS }] }) : 'resumed',
    ],
  ])('ends %s when it is time and not before', async (_, code) => {
    const { engine, outcome } = await comesTo(createInMemoryStorage(), code)
    expect(outcome.status).toBe('suspended')

    await engine.pass(40 * DAY_MS - 1)
    expect((await engine.find(outcome.runId))?.status).toBe('suspended')
    await engine.pass(1)

    expect((await engine.find(outcome.runId))?.status).toBe('completed')
  })
})

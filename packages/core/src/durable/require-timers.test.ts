import { createInMemoryStorage } from '@perdure/in-memory'
import type { Storage } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, outcomeOf, untilIdle } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'

const DAY_MS = 86_400_000

async function runCode(storage: Storage, code: (context: RunContext) => unknown) {
  const engine = createTestEngine({ storage, agents: [agentOf('a', async (_, context) => code(context))] })
  await engine.start()
  const reply = engine.run('a')
  await untilIdle(engine.clock)
  return { engine, outcome: outcomeOf(await reply) }
}

const withoutTimers = (): Storage => {
  const storage = createInMemoryStorage()
  return { ...storage, steps: { ...storage.steps, due: undefined as never, nextDueAt: undefined as never } }
}

describe('a storage without durable timers', () => {
  it.each([
    ['a sleep', ({ sleep }: RunContext) => sleep('nap', 1)],
    ['a wait with a timeout', ({ waitForEvent }: RunContext) => waitForEvent('go', { timeout: 1 })],
    ['an approval that expires', ({ approval }: RunContext) => approval('a', { timeout: 1 })],
    ['a suspension that expires', ({ suspend }: RunContext) => suspend({ approvals: [{ name: 'a', timeout: 1 }] })],
  ])('rejects %s, which would never end', async (_, code) => {
    const { outcome } = await runCode(withoutTimers(), code)

    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'timer-driver-store-unsupported' } })
  })

  it.each([
    ['an event', ({ waitForEvent }: RunContext) => waitForEvent('go')],
    ['a decision', ({ approval }: RunContext) => approval('a')],
    ['a resume', ({ suspend }: RunContext) => suspend()],
  ])('lets a run wait for %s', async (_, code) => {
    expect((await runCode(withoutTimers(), code)).outcome.status).toBe('suspended')
  })
})

describe('a duration beyond the range of platform timers', () => {
  it.each([
    ['a sleep', ({ sleep }: RunContext) => sleep('nap', 40 * DAY_MS)],
    ['a wait', ({ waitForEvent }: RunContext) => waitForEvent('go', { timeout: 40 * DAY_MS })],
    ['an approval', ({ approval }: RunContext) => approval('a', { timeout: 40 * DAY_MS })],
    [
      'an approval of a suspension',
      ({ suspend, resume }: RunContext) =>
        resume === undefined ? suspend({ approvals: [{ name: 'a', timeout: 40 * DAY_MS }] }) : 'resumed',
    ],
  ])('ends %s on time, and not before', async (_, code) => {
    const { engine, outcome } = await runCode(createInMemoryStorage(), code)
    expect(outcome.status).toBe('suspended')

    await engine.advance(40 * DAY_MS - 1)
    expect((await engine.find(outcome.runId))?.status).toBe('suspended')
    await engine.advance(1)

    expect((await engine.find(outcome.runId))?.status).toBe('completed')
  })
})

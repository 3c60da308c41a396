import { createInMemoryStorage } from '@perdure/in-memory'
import type { Storage } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createTestEngine, outcomeOf, workflowOf } from './test-engine.fixture.ts'

const key = { id: 'key-1', fingerprint: 'same' }

/** Two processes on one storage; only the second one fires timers, and so executes what a timer resumes. */
async function twoProcesses() {
  const storage = createInMemoryStorage()
  const shared = { clock: createManualClock(), ids: createSequenceIds(), isStorageShared: true }
  const naps = workflowOf('naps', async (_, { sleep }) => {
    await sleep('short', 1_000)
    await sleep('long', 10_000)
    return 'awake'
  })
  const steps: Storage['steps'] = { ...storage.steps, due: async () => [], nextDueAt: async () => undefined }
  const waiting = createTestEngine({ ...shared, storage: { ...storage, steps }, workflows: [naps] })
  const other = createTestEngine({ ...shared, storage, workflows: [naps] })
  await waiting.start()
  const execute = async (waitMs: number) => {
    const reply = waiting.execute('naps', { answer: 'outcome', waitMs, key })
    await waiting.advance(0)
    // A process that starts looks for the next timer.
    await other.start()
    return { reply }
  }
  const stored = async () => (await storage.idempotency.find(key.id, shared.clock.now()))?.response
  return { execute, stored, advance: other.advance }
}

describe('a caller with Prefer: wait whose run another process suspends', () => {
  it('gets the outcome of the run, which is also stored under the key', async () => {
    const { execute, stored, advance } = await twoProcesses()
    const { reply } = await execute(60_000)

    await advance(1_000)
    expect(await stored()).toBeUndefined()

    await advance(10_000)
    await advance(2_000)
    expect(outcomeOf(await reply)).toMatchObject({ status: 'completed', result: 'awake' })
    expect(JSON.parse((await stored())?.body ?? '')).toMatchObject({ status: 'completed', result: 'awake' })
  })

  it('gets 202 after its wait, which is also stored under the key', async () => {
    const { execute, stored, advance } = await twoProcesses()
    const { reply } = await execute(5_000)
    await advance(1_000)

    await advance(4_000)

    expect((await reply).status).toBe(202)
    expect(await stored()).toMatchObject({ status: 202 })
  })
})

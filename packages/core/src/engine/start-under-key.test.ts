import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type UnitOfWork } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, gate, untilIdle, workflowOf } from './test-engine.fixture.ts'

const key = { id: 'key-1', fingerprint: 'same' }
const accepted = { answer: 'accepted' } as const
type Engine = ReturnType<typeof createTestEngine>

describe('startRun under an idempotency key', () => {
  it('stores the answer under the key and never starts a second run', async () => {
    let calls = 0
    const engine = createTestEngine({ agents: [agentOf('once', async () => ++calls)] })

    const first = await engine.run('once', { key })
    const again = await engine.run('once', { key })

    expect(again).toMatchObject({ status: 200, json: first.json, replayed: true, runId: first.runId })
    expect(calls).toBe(1)
  })

  it('rejects a key that is in flight, and a key that was used for a different request', async () => {
    const open = gate()
    const engine = createTestEngine({ agents: [agentOf('slow', () => open.promise)] })

    const first = engine.run('slow', { key })
    await untilIdle()

    await expect(engine.run('slow', { key })).rejects.toMatchObject({
      kind: 'idempotency-in-flight',
      retryAfter: 1_000,
    })
    await expect(engine.run('slow', { key: { ...key, fingerprint: 'other' } })).rejects.toMatchObject({
      kind: 'idempotency-conflict',
    })
    open.resolve()
    await first
  })

  it('starts one run for many concurrent requests with the same key', async () => {
    let calls = 0
    const engine = createTestEngine({ agents: [agentOf('once', async () => ++calls)] })

    const all = await Promise.allSettled(Array.from({ length: 50 }, () => engine.run('once', { key })))

    expect(calls).toBe(1)
    const refused = all.flatMap((one) => (one.status === 'rejected' ? [one.reason.kind] : []))
    expect(new Set(refused)).toEqual(new Set(['idempotency-in-flight']))
    expect((await engine.storage.runs.list({}, { limit: 10, order: 'asc' }, EVERY_ROW)).items).toHaveLength(1)
  })

  it.each([
    ['a thread', (engine: Engine) => engine.execute('flow', { key, body: { input: 1, threadId: 't' }, ...accepted })],
    ['the slot of a lane', (engine: Engine) => engine.run('alone', { key, ...accepted })],
  ])(
    'answers a repeated request as in flight while the commit of the first one, which claims %s, is under way',
    async (_, send) => {
      const storage = createInMemoryStorage()
      const committing = gate()
      const unitOfWork: UnitOfWork = {
        async commit(writes) {
          await committing.promise
          return storage.unitOfWork.commit(writes)
        },
      }
      const engine = createTestEngine({
        storage: { ...storage, unitOfWork },
        workflows: [workflowOf('flow', async () => 1)],
        agents: [agentOf('alone', async () => 1, { concurrency: 'single', onBusy: 'reject' })],
      })
      const first = send(engine)
      await untilIdle()

      await expect(send(engine)).rejects.toMatchObject({ kind: 'idempotency-in-flight' })
      await expect(
        engine.execute('flow', { body: { input: 1, threadId: 'other' }, key: { ...key, fingerprint: 'other' } }),
      ).rejects.toMatchObject({
        kind: 'idempotency-conflict',
      })
      committing.resolve()
      const { runId } = await first
      expect(await send(engine)).toMatchObject({ replayed: true, runId })
    },
  )

  it('stores the answer 202 of a request whose waitMs has passed', async () => {
    const open = gate<string>()
    const engine = createTestEngine({ agents: [agentOf('slow', () => open.promise)] })
    const waiting = engine.run('slow', { key, waitMs: 100 })
    await untilIdle()
    engine.clock.advance(100)
    const first = await waiting

    open.resolve('done')
    await untilIdle()

    expect(await engine.recall(key)).toMatchObject({ status: 202, json: first.json, location: first.location })
  })

  it('stores nothing under the key of a rejected request', async () => {
    const open = gate()
    const engine = createTestEngine({ agents: [agentOf('single', () => open.promise, { concurrency: 'single' })] })
    const first = engine.run('single')
    await untilIdle()

    await expect(engine.run('single', { key })).rejects.toMatchObject({ code: 'agent-busy', retryAfter: 1_000 })
    expect(await engine.recall(key)).toBeUndefined()
    open.resolve()
    await first
    await untilIdle()
    expect((await engine.run('single', { key })).status).toBe(200)
  })
})

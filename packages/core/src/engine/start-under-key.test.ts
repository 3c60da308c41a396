import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, gate, settled } from './test-engine.fixture.ts'

const key = { id: 'key-1', fingerprint: 'same' }

describe('startRun under an idempotency key', () => {
  it('keeps the answer under the key and never runs twice', async () => {
    let calls = 0
    const engine = createTestEngine({ agents: [agentOf('once', async () => ++calls)] })

    const first = await engine.run('once', { key })
    const again = await engine.run('once', { key })

    expect(again).toMatchObject({ status: 200, json: first.json, replayed: true, runId: first.runId })
    expect(calls).toBe(1)
  })

  it('refuses the same key for another request, and while the first one runs', async () => {
    const open = gate()
    const engine = createTestEngine({ agents: [agentOf('slow', () => open.promise)] })

    const first = engine.run('slow', { key })
    await settled()

    await expect(engine.run('slow', { key })).rejects.toMatchObject({
      kind: 'idempotency-in-flight',
      retryAfterMs: 1_000,
    })
    await expect(engine.run('slow', { key: { ...key, fingerprint: 'other' } })).rejects.toMatchObject({
      kind: 'idempotency-conflict',
    })
    open.resolve()
    await first
  })

  it('lets exactly one of many concurrent requests with one key start a run', async () => {
    let calls = 0
    const engine = createTestEngine({ agents: [agentOf('once', async () => ++calls)] })

    const all = await Promise.allSettled(Array.from({ length: 50 }, () => engine.run('once', { key })))

    expect(calls).toBe(1)
    const refused = all.flatMap((one) => (one.status === 'rejected' ? [one.reason.kind] : []))
    expect(new Set(refused)).toEqual(new Set(['idempotency-in-flight']))
    expect((await engine.storage.runs.list({}, { limit: 10, order: 'asc' }, EVERY_ROW)).items).toHaveLength(1)
  })

  it('remembers the 202 of a keyed request whose wait has passed', async () => {
    const open = gate<string>()
    const engine = createTestEngine({ agents: [agentOf('slow', () => open.promise)] })
    const waiting = engine.run('slow', { key, waitMs: 100 })
    await settled()
    engine.clock.advance(100)
    const first = await waiting

    open.resolve('done')
    await settled()

    expect(await engine.recall(key)).toMatchObject({ status: 202, json: first.json, location: first.location })
  })

  it('leaves no record under the key when the request is refused', async () => {
    const open = gate()
    const engine = createTestEngine({ agents: [agentOf('single', () => open.promise, { concurrency: 'single' })] })
    const first = engine.run('single')
    await settled()

    await expect(engine.run('single', { key })).rejects.toMatchObject({ code: 'agent-busy', retryAfterMs: 1_000 })
    expect(await engine.recall(key)).toBeUndefined()
    open.resolve()
    await first
    await settled()
    expect((await engine.run('single', { key })).status).toBe(200)
  })
})

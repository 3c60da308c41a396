import { describe, expect, it } from 'vitest'
import { bodyOf, createTestApp, get, ORIGIN, post, refusalOf } from '../app.fixture.ts'

const BEAT = { id: 'beat', kind: 'interval', intervalMs: 60_000, target: { agentId: 'echo', input: 'tick' } }

const remove = (path: string) => new Request(`${ORIGIN}/v1${path}`, { method: 'DELETE' })

describe('/triggers', () => {
  it('creates, returns, lists, disables, enables, fires and deletes a trigger', async () => {
    const { app } = createTestApp()

    const created = await app.fetch(post('/triggers', BEAT))
    expect([created.status, created.headers.get('location')]).toEqual([201, '/v1/triggers/beat'])
    const trigger = await bodyOf(created)
    expect(trigger).toMatchObject({
      ...{ id: 'beat', kind: 'interval', intervalMs: 60_000, enabled: true, status: 'active', source: 'api' },
      ...{ catchUp: 'latest', maxCatchUp: 10, catchUpWindowMs: 86_400_000, overlap: 'skip', jitterMs: 0 },
      ...{ lastFireAt: null, nextFireAt: '2025-01-01T00:01:00.000Z', lastStatus: null, fireCount: 0, missed: 0 },
    })
    expect(await bodyOf(await app.fetch(get('/triggers/beat')))).toEqual(trigger)
    expect(await bodyOf(await app.fetch(get('/triggers')))).toEqual({ items: [trigger], nextCursor: null })

    const disabled = await bodyOf(await app.fetch(post('/triggers/beat/disable', {})))
    expect(disabled).toMatchObject({ enabled: false, status: 'disabled', nextFireAt: null })
    const fired = await app.fetch(post('/triggers/beat/fire', {}))
    const { fireId, runId } = await bodyOf(fired)
    expect([fired.status, fired.headers.get('location')]).toEqual([202, `/v1/runs/${runId}`])
    await expect
      .poll(async () => (await bodyOf(await app.fetch(get('/triggers/beat/fires')))).items)
      .toEqual([
        {
          ...{ id: fireId, runId, manual: true, status: 'completed' },
          ...{ scheduledAt: '2025-01-01T00:00:00.000Z', firedAt: '2025-01-01T00:00:00.000Z' },
        },
      ])
    expect(await bodyOf(await app.fetch(get(`/runs/${runId}`)))).toMatchObject({ triggerId: 'beat', result: 'tick' })

    expect(await bodyOf(await app.fetch(post('/triggers/beat/enable', {})))).toMatchObject({ enabled: true })
    expect((await app.fetch(remove('/triggers/beat'))).status).toBe(204)
    expect(await refusalOf(await app.fetch(get('/triggers/beat')))).toEqual({ status: 404, error: 'trigger-not-found' })
  })

  it('replays answers under the same key', async () => {
    const { app } = createTestApp()
    const headers = { 'Idempotency-Key': 'k' }
    const create = () => app.fetch(post('/triggers', BEAT, headers))
    const fire = () => app.fetch(post('/triggers/beat/fire', {}, headers))

    const created = [await create(), await create()]
    const fired = [await fire(), await fire()]

    expect(created.map(({ status }) => status)).toEqual([201, 201])
    expect(fired[1]?.headers.get('idempotency-replayed')).toBe('true')
    expect(await fired[1]?.json()).toEqual(await fired[0]?.json())
    expect((await bodyOf(await app.fetch(get('/triggers/beat/fires')))).items).toHaveLength(1)
  })

  it('prunes disabled triggers', async () => {
    const { app } = createTestApp()
    await app.fetch(post('/triggers', { ...BEAT, enabled: false }))

    expect(await bodyOf(await app.fetch(post('/triggers/prune', {})))).toEqual({ pruned: ['beat'] })
  })

  it('returns the fires that an event caused', async () => {
    const { app } = createTestApp()
    await app.fetch(post('/triggers', { id: 'paid', kind: 'event', event: 'order.paid', target: { agentId: 'echo' } }))

    const emitted = await bodyOf(await app.fetch(post('/events/order.paid', { payload: 1 })))

    expect(emitted).toEqual({ name: 'order.paid', wokenRunIds: [], fireIds: [expect.stringMatching(/^fire_/)] })
    const [fire] = (await bodyOf(await app.fetch(get('/triggers/paid/fires')))).items as object[]
    expect(fire).toMatchObject({ manual: false, status: 'pending', firedAt: null })
  })

  it.each([
    ['intervalMs', { ...BEAT, intervalMs: 999 }],
    ['maxCatchUp', { ...BEAT, maxCatchUp: 1_001 }],
    ['jitterMs', { ...BEAT, jitterMs: -1 }],
    ['overlap', { ...BEAT, overlap: 'replace' }],
    ['idleMs', { ...BEAT, idleMs: 5_000 }],
    ['target', { ...BEAT, target: { agentId: 'echo', workflowId: 'steps' } }],
    ['expiresAt', { ...BEAT, expiresAt: '2024-12-31T00:00:00.000Z' }],
    ['kind', { ...BEAT, kind: 'daily' }],
  ])('rejects a definition with an invalid %s', async (member, definition) => {
    const { app } = createTestApp()

    const response = await app.fetch(post('/triggers', definition))

    expect(response.status).toBe(400)
    expect(await bodyOf(response)).toMatchObject({
      error: 'validation-failed',
      message: expect.stringContaining(`body.${member}`),
    })
  })
})

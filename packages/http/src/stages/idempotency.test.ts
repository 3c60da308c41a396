import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type IdempotencyStore, type UnitOfWork } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createTestApp, post, refusalOf } from '../app.fixture.ts'

const RUN = '/agents/echo/run'
const keyed = (body: unknown, key = 'k1', headers: Record<string, string> = {}) =>
  post(RUN, body, { 'Idempotency-Key': key, ...headers })

describe('idempotency', () => {
  it('replays the first answer for a repeated key', async () => {
    const { app, storage } = createTestApp()
    const first = await app.fetch(keyed({ input: { a: 1, b: 2 } }))

    const second = await app.fetch(keyed('{ "input": { "b": 2, "a": 1 } }', '"k1"'))

    expect(first.headers.has('idempotency-replayed')).toBe(false)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.status).toBe(first.status)
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'))
    expect(await second.text()).toBe(await first.text())
    expect((await storage.runs.list({}, { limit: 10, order: 'asc' }, EVERY_ROW)).items).toHaveLength(1)
  })

  it('replays the Location header', async () => {
    const { app } = createTestApp()
    const prefer = { Prefer: 'respond-async' }
    const first = await app.fetch(keyed({}, 'k2', prefer))

    const second = await app.fetch(keyed({}, 'k2', prefer))

    expect(first.status).toBe(202)
    expect(second.status).toBe(202)
    expect(first.headers.get('location')).toMatch(/^\/v1\/runs\/run_/)
    expect(second.headers.get('location')).toBe(first.headers.get('location'))
  })

  it('treats a missing body and an empty object as the same request', async () => {
    const { app } = createTestApp()
    await app.fetch(keyed(undefined))

    expect((await app.fetch(keyed({}))).headers.get('idempotency-replayed')).toBe('true')
  })

  it('rejects a repeated key with another body', async () => {
    const { app } = createTestApp()
    await app.fetch(keyed({ input: 1 }))

    expect(await refusalOf(await app.fetch(keyed({ input: 2 })))).toEqual({
      status: 409,
      error: 'idempotency-conflict',
    })
  })

  it('rejects a repeated key with Retry-After while the first request is executing', async () => {
    const { app } = createTestApp()
    const hold = () => post('/agents/hold/run', {}, { 'Idempotency-Key': 'k3' })
    void app.fetch(hold())
    await new Promise((resolve) => setImmediate(resolve))

    const second = await app.fetch(hold())

    expect(second.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    expect(await refusalOf(second)).toEqual({ status: 409, error: 'idempotency-in-flight' })
  })

  it.each(['/agents/ech%6F/run', '/agents/%65%63%68%6f/run', '/./agents/x/../echo/run'])(
    'recognizes a repeated request whose path is written %s',
    async (path) => {
      const { app, storage } = createTestApp()
      await app.fetch(keyed({ input: 1 }))

      const again = await app.fetch(post(path, { input: 1 }, { 'Idempotency-Key': 'k1' }))
      const other = await app.fetch(post(path, { input: 2 }, { 'Idempotency-Key': 'k1' }))

      expect(again.headers.get('idempotency-replayed')).toBe('true')
      expect(await refusalOf(other)).toEqual({ status: 409, error: 'idempotency-conflict' })
      expect((await storage.runs.list({}, { limit: 10, order: 'asc' }, EVERY_ROW)).items).toHaveLength(1)
    },
  )

  it('separates keys by operation and parameters', async () => {
    const { app } = createTestApp()
    await app.fetch(keyed({}))

    for (const path of ['/agents/echo/stream', '/agents/echo/abort', '/workflows/steps/execute']) {
      const response = await app.fetch(post(path, {}, { 'Idempotency-Key': 'k1' }))

      expect(response.status).toBe(202)
      expect(response.headers.has('idempotency-replayed')).toBe(false)
    }
  })

  it('separates keys by caller', async () => {
    let subject = 'alice'
    const { app } = createTestApp({ deps: { authenticate: async () => ({ subject, scopes: ['admin:*'] }) } })
    await app.fetch(keyed({ input: 1 }))

    subject = 'bob'
    expect((await app.fetch(keyed({ input: 2 }))).status).toBe(200)
  })

  it('reports a missing key, or rejects the request if keys are required', async () => {
    const warning = await createTestApp().app.fetch(post(RUN, {}))
    const enforcing = await createTestApp({ config: { requireKey: 'enforce' } }).app.fetch(post(RUN, {}))

    expect(warning.status).toBe(200)
    expect(warning.headers.get('idempotency-status')).toBe('missing')
    expect(await refusalOf(enforcing)).toEqual({ status: 400, error: 'idempotency-key-required' })
  })

  it.each(['', 'has space', 'x'.repeat(256)])('rejects the key %j', async (key) => {
    const { app } = createTestApp()

    expect(await refusalOf(await app.fetch(keyed({}, key)))).toEqual({ status: 400, error: 'idempotency-key-invalid' })
  })

  it('answers 501 for an unimplemented operation, whatever its body holds', async () => {
    const { app } = createTestApp()
    for (const body of [undefined, {}, { threadId: 7, other: true }]) {
      const response = await app.fetch(post('/workflows/steps/fork', body))
      expect(await refusalOf(response)).toEqual({ status: 501, error: 'not-implemented' })
    }
  })

  it('does not store the key of a request to an unimplemented operation', async () => {
    const { app } = createTestApp()
    const send = (body: unknown) => app.fetch(post('/workflows/steps/fork', body, { 'Idempotency-Key': 'k4' }))

    const body = { threadId: 'thr-1' }
    expect(await refusalOf(await send(body))).toEqual({ status: 501, error: 'not-implemented' })
    expect(await refusalOf(await send({ threadId: 'thr-2' }))).toEqual({ status: 501, error: 'not-implemented' })
  })

  it('answers a repeated start without a commit while most keys are repeated', async () => {
    const storage = createInMemoryStorage()
    let commits = 0
    const commit: UnitOfWork['commit'] = (writes) => {
      commits++
      return storage.unitOfWork.commit(writes)
    }
    const idempotency = { ...storage.idempotency, expectsRepeats: () => true, fromCache: () => undefined }
    const { app } = createTestApp({
      on: { storage: { ...storage, idempotency, unitOfWork: { commit } }, clock: createManualClock() },
    })
    const first = await app.fetch(keyed({}))

    const before = commits
    const second = await app.fetch(keyed({}))
    expect(await second.text()).toBe(await first.text())
    expect(commits).toBe(before)
    expect(before).toBeGreaterThan(0)
  })

  it('replays the stored answer if a request fails because another request with the same key took effect first', async () => {
    const { app, deps } = racing()
    const start = () => post('/agents/hold/run', {}, { 'Idempotency-Key': 'k9', Prefer: 'respond-async' })
    const first = await app.fetch(start())

    deps.misses = 1
    const second = await app.fetch(start())

    expect(second.status).toBe(202)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(await second.text()).toBe(await first.text())
    deps.misses = 1
    expect(await refusalOf(await app.fetch(post('/agents/hold/run', {}, { 'Idempotency-Key': 'k10' })))).toEqual({
      status: 409,
      error: 'agent-busy',
    })
  })
})

/** An app whose next `misses` key lookups find nothing, as if the other request had not committed yet. */
function racing() {
  const deps = { misses: 0 }
  const clock = createManualClock()
  const storage = createInMemoryStorage()
  const find: IdempotencyStore['find'] = async (id, now) =>
    deps.misses-- > 0 ? undefined : storage.idempotency.find(id, now)
  const { app } = createTestApp({
    on: { storage: { ...storage, idempotency: { ...storage.idempotency, find } }, clock },
  })
  return { app, deps }
}

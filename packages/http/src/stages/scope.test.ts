import type { Authenticate } from '@perdure/core'
import { describe, expect, it } from 'vitest'
import { bodyOf, createTestApp, get, post, refusalOf } from '../app.fixture.ts'

const holding =
  (...scopes: string[]): Authenticate =>
  async () => ({ subject: 'alice', scopes })

const appFor = (...scopes: string[]) => createTestApp({ deps: { authenticate: holding(...scopes) } })

describe('authorization', () => {
  it('names the missing scope', async () => {
    const { app } = appFor('agents:read', 'agents:invoke:other')

    const response = await app.fetch(post('/agents/echo/run', {}))

    expect(response.status).toBe(403)
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="perdure", error="insufficient_scope"')
    expect(await bodyOf(response)).toMatchObject({
      error: 'scope-denied',
      hint: expect.stringContaining('agents:invoke:echo'),
    })
  })

  it('suggests only scopes that a token can be granted', async () => {
    const { app } = appFor('agents:read')

    expect(await bodyOf(await app.fetch(get('/approvals')))).toMatchObject({
      hint: 'use a token with the scope approvals:read',
    })
    expect(await bodyOf(await appFor('memory:read').app.fetch(get('/runs/run_1')))).toMatchObject({
      hint: 'use a token with the scope runs:read:run_1 or agents:read or workflows:read',
    })
  })

  it('hides rows that the caller may not see', async () => {
    const test = appFor('agents:invoke', 'runs:read:own')
    const { runId } = await bodyOf(await test.app.fetch(post('/agents/echo/run', {})))

    expect((await test.app.fetch(get(`/runs/${runId}`))).status).toBe(200)
    expect(await refusalOf(await test.app.fetch(get('/runs/run_other')))).toEqual({
      status: 404,
      error: 'run-not-found',
    })
  })

  it('requires a stronger scope for raw traces than for sanitized ones', async () => {
    const { app } = appFor('traces:read:sanitized')

    expect((await app.fetch(post('/runs/r1/replay', {}))).status).toBe(404)
    expect(await bodyOf(await app.fetch(post('/runs/r1/replay', { raw: true })))).toMatchObject({
      error: 'scope-denied',
      hint: expect.stringContaining('traces:read:raw'),
    })
  })

  it.each([
    ['a malformed body', '{', {}],
    ['a body that fails its schema', { input: 1, unknown: 2 }, {}],
    ['a body over the limit', 'x'.repeat(1_001), {}],
    ['a body with the wrong media type', '{}', { 'Content-Type': 'text/plain' }],
    ['an invalid Idempotency-Key', {}, { 'Idempotency-Key': 'not valid' }],
  ])('is decided before the request is read: %s', async (_, body, headers) => {
    const request = () => post('/agents/echo/run', body, headers)
    const refused = request()

    expect(await refusalOf(await appFor().app.fetch(refused))).toEqual({ status: 403, error: 'scope-denied' })
    expect(refused.bodyUsed).toBe(false)
    expect((await appFor('agents:invoke').app.fetch(request())).status).toBeOneOf([400, 413, 415])
  })

  it('is decided before the query is validated', async () => {
    const path = '/runs?limit=0&stauts=failed'

    expect((await appFor().app.fetch(get(path))).status).toBe(403)
    expect((await appFor('runs:read').app.fetch(get(path))).status).toBe(400)
  })

  it.each(['/runs/r1/replay', '/sessions/s1/replay'])(
    'is decided after the body only where the body demands more: %s',
    async (path) => {
      const send = async (scopes: readonly string[], body: unknown, headers = {}) =>
        refusalOf(await appFor(...scopes).app.fetch(post(path, body, headers)))
      const key = { 'Idempotency-Key': 'not valid' }

      expect(await send([], { raw: 'yes' })).toMatchObject({ error: 'scope-denied' })
      expect(await send(['traces:read:sanitized'], { raw: 'yes' })).toMatchObject({ error: 'validation-failed' })
      expect(await send(['traces:read:sanitized'], { raw: true }, key)).toMatchObject({ error: 'scope-denied' })
      expect(await send(['traces:read:raw'], { raw: true }, key)).toMatchObject({ error: 'idempotency-key-invalid' })
    },
  )

  it('does not store the idempotency key of a refused request', async () => {
    const scopes: string[] = []
    const { app } = createTestApp({ deps: { authenticate: async () => ({ subject: 'alice', scopes }) } })
    const send = () => app.fetch(post('/agents/echo/run', { input: 1 }, { 'Idempotency-Key': 'k' }))
    expect((await send()).status).toBe(403)

    scopes.push('agents:invoke')
    const response = await send()

    expect(response.status).toBe(200)
    expect(response.headers.has('idempotency-replayed')).toBe(false)
  })
})

import { describe, expect, it } from 'vitest'
import { type AppOptions, bearer, bodyOf, createTestApp, get, ORIGIN, post, refusalOf } from '../app.fixture.ts'

async function setUp(options: AppOptions = {}) {
  const made = createTestApp({ ...options, auth: 'token' })
  const { token, record } = await made.manage.mint({ name: 'admin', scopes: ['admin:*'], subject: 'root' }, 'test')
  const send = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    made.app.fetch(post(path, body, { ...bearer(token), ...headers }))
  const remove = (path: string, headers: Record<string, string> = {}) =>
    made.app.fetch(new Request(`${ORIGIN}/v1${path}`, { method: 'DELETE', headers: { ...bearer(token), ...headers } }))
  const read = (path: string, by = token) => made.app.fetch(get(path, bearer(by)))
  const mint = async (body: object = {}) =>
    (await bodyOf(await send('/tokens', { name: 'ci', scopes: ['agents:read'], ...body }))) as {
      id: string
      token: string
    }
  return { ...made, token, record, send, remove, read, mint }
}

const CI = { name: 'ci', scopes: ['agents:read'] }

describe('/tokens', () => {
  it('mints a token that works immediately, shows the token only once, and returns its location', async () => {
    const { send, read } = await setUp()

    const response = await send('/tokens', { ...CI, subject: 'alice', env: 'test' })

    const { token, ...shown } = (await bodyOf(response)) as { token: string; id: string }
    expect(response.status).toBe(201)
    expect(response.headers.get('location')).toBe(`/v1/tokens/${shown.id}`)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(token).toMatch(/^perdure_test_v1_[0-9A-Za-z]{49}$/)
    expect(shown).toMatchObject({ name: 'ci', subject: 'alice', scopes: ['agents:read'], createdBy: 'root' })
    expect((await read('/agents', token)).status).toBe(200)
    expect(await bodyOf(await read(`/tokens/${shown.id}`))).toEqual({ ...shown, lastUsedAt: expect.any(String) })
    expect(await bodyOf(await read('/tokens/self', token))).toMatchObject({ id: shown.id })
  })

  it('lists tokens, newest first', async () => {
    const { read, mint, record, clock } = await setUp()
    clock.advance(1)
    const { id } = await mint()

    const { items, nextCursor } = (await bodyOf(await read('/tokens'))) as { items: { id: string }[]; nextCursor: null }

    expect(items.map((token) => token.id)).toEqual([id, record.id])
    expect(nextCursor).toBeNull()
    expect(JSON.stringify(items)).not.toMatch(/digest|perdure_/)
  })

  it('answers scope-escalation-denied for scopes that the caller does not have', async () => {
    const { mint, app } = await setUp()
    const { token } = await mint({ scopes: ['tokens:create', 'agents:read:echo'] })

    const response = await app.fetch(post('/tokens', CI, bearer(token)))

    expect(await refusalOf(response)).toEqual({ status: 403, error: 'scope-escalation-denied' })
  })

  it.each<[string, object]>([
    ['no scopes', { scopes: [] }],
    ['an unknown scope', { scopes: ['agents:fly'] }],
    ['an expiry in the past', { expiresAt: '2020-01-01T00:00:00.000Z' }],
    ['an expiry that is not a date', { expiresAt: 'soon' }],
    ['a subject with a space', { subject: 'a b' }],
    ['a member that only the server may set', { createdBy: 'me' }],
  ])('rejects %s', async (_, over) => {
    const { send, storage } = await setUp()

    expect(await refusalOf(await send('/tokens', { ...CI, ...over }))).toEqual({
      status: 400,
      error: 'validation-failed',
    })
    expect((await storage.tokens.list({ limit: 9, order: 'asc' })).items).toHaveLength(1)
  })

  it('returns the same token for a repeated idempotency key, and stores the answer sealed', async () => {
    const { send, storage, token: admin } = await setUp()
    const keyed = { 'Idempotency-Key': 'mint-1' }

    const [first, ...others] = await Promise.all(Array.from({ length: 5 }, () => send('/tokens', CI, keyed)))
    const texts = await Promise.all([first, ...others].map((response) => response?.text()))

    expect(new Set(texts).size).toBe(1)
    const { token } = JSON.parse(texts[0] ?? '{}') as { token: string }
    expect((await storage.tokens.list({ limit: 9, order: 'asc' })).items).toHaveLength(2)
    // Another app with the same pepper and storage can unseal the answer.
    const again = await createTestApp({ auth: 'token', on: { storage, clock: createTestApp().clock } }).app.fetch(
      post('/tokens', CI, { ...bearer(admin), ...keyed }),
    )
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(await again.json()).toMatchObject({ token })
    expect(await refusalOf(await send('/tokens', { ...CI, name: 'other' }, keyed))).toEqual({
      status: 409,
      error: 'idempotency-conflict',
    })
  })

  it('rotates a token with a grace period for the old one', async () => {
    const { send, mint, read, clock } = await setUp()
    const old = await mint({ subject: 'alice' })

    const response = await send(`/tokens/${old.id}/rotate`, { graceSeconds: 30 })

    const fresh = (await bodyOf(response)) as { id: string; token: string; subject: string }
    expect([response.status, fresh.subject]).toEqual([201, 'alice'])
    expect((await read('/agents', fresh.token)).status).toBe(200)
    expect((await read('/agents', old.token)).status).toBe(200)
    clock.advance(30_000)
    expect(await refusalOf(await read('/agents', old.token))).toEqual({ status: 401, error: 'auth-expired' })
    expect(await refusalOf(await send(`/tokens/${old.id}/rotate`, {}))).toEqual({
      status: 409,
      error: 'token-not-active',
    })
    expect(await refusalOf(await send(`/tokens/${fresh.id}/rotate`, { graceSeconds: 86_401 }))).toEqual({
      status: 400,
      error: 'validation-failed',
    })
  })

  it("replays an answer under its key after the caller's token was rotated", async () => {
    const { send, mint, app, storage } = await setUp()
    const old = await mint({ subject: 'alice', scopes: ['agents:invoke'] })
    const run = (token: string) =>
      app.fetch(post('/agents/echo/run', { input: 1 }, { ...bearer(token), 'Idempotency-Key': 'r1' }))
    const first = await bodyOf(await run(old.token))
    const fresh = (await bodyOf(await send(`/tokens/${old.id}/rotate`, {}))) as { token: string }

    const again = await run(fresh.token)

    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(await bodyOf(again)).toEqual(first)
    expect((await storage.runs.list({}, { limit: 9, order: 'asc' }, 'every-row')).items).toHaveLength(1)
  })

  it('revokes a token immediately, and allows the revocation to be repeated', async () => {
    const { mint, remove, read } = await setUp()
    const { id, token } = await mint()

    const statuses = [(await remove(`/tokens/${id}`)).status, (await remove(`/tokens/${id}`)).status]

    expect(statuses).toEqual([204, 204])
    expect(await refusalOf(await read('/agents', token))).toEqual({ status: 401, error: 'auth-revoked' })
    expect(await refusalOf(await remove('/tokens/tok_x'))).toEqual({ status: 404, error: 'token-not-found' })
  })

  it('admits no request after a revocation, even if requests are concurrent with the revocation', async () => {
    const { mint, remove, read } = await setUp({ config: { perIpRequests: 10_000 } })
    const { id, token } = await mint()
    let isRevoked = false
    const late: number[] = []

    const requests = Array.from({ length: 200 }, async (_, n) => {
      for (let turns = 0; turns < n % 20; turns++) await Promise.resolve()
      const cameLate = isRevoked
      const { status } = await read('/agents', token)
      if (cameLate) late.push(status)
    })
    const revocation = remove(`/tokens/${id}`).then(() => {
      isRevoked = true
    })
    await Promise.all([...requests, revocation])
    await Promise.all(Array.from({ length: 100 }, async () => late.push((await read('/agents', token)).status)))

    expect(late.length).toBeGreaterThanOrEqual(100)
    // From the eleventh failure on, the address is locked out.
    expect(late.filter((status) => status !== 401 && status !== 429)).toEqual([])
  })
})

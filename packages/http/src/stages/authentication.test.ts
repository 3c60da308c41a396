import { describe, expect, it } from 'vitest'
import { type AppOptions, bearer, bodyOf, createTestApp, get } from '../app.fixture.ts'

async function createSecuredApp(options: AppOptions = {}) {
  const made = createTestApp({ ...options, auth: 'token' })
  const expiresAt = made.clock.now() + 10_000_000
  const request = { name: 't', scopes: ['agents:read'], subject: 'alice', expiresAt }
  return { ...made, ...(await made.manage.mint(request, 'test')) }
}

describe('authentication', () => {
  it('accepts a valid token', async () => {
    const { app, token } = await createSecuredApp()

    expect((await app.fetch(get('/agents', bearer(token)))).status).toBe(200)
  })

  it('answers auth-required without a token', async () => {
    const { app } = await createSecuredApp()

    const response = await app.fetch(get('/agents'))

    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="perdure"')
    expect(await bodyOf(response)).toMatchObject({ error: 'auth-required', requestId: expect.any(String) })
  })

  it('distinguishes invalid, expired and revoked tokens', async () => {
    const { app, token, record, manage, clock } = await createSecuredApp()
    const refusal = async (text: string) => {
      const response = await app.fetch(get('/agents', bearer(text)))
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="perdure", error="invalid_token"')
      return (await bodyOf(response)).error
    }

    expect(await refusal('nonsense')).toBe('auth-invalid')
    clock.advance(10_000_000)
    expect(await refusal(token)).toBe('auth-expired')
    await manage.revoke(record.id, 'test')
    expect(await refusal(token)).toBe('auth-revoked')
  })

  it('requires no token for public operations', async () => {
    const { app } = await createSecuredApp()

    expect((await app.fetch(get('/health/live', bearer('nonsense')))).status).toBe(200)
    expect((await app.fetch(get('/openapi.json'))).status).toBe(200)
  })
})

const env = (remoteAddress: string) => ({ incoming: { socket: { remoteAddress } } })

describe('the lockout', () => {
  const failTimes = async ({ app }: Pick<Awaited<ReturnType<typeof createSecuredApp>>, 'app'>, times: number) => {
    for (let n = 0; n < times; n++) await app.fetch(get('/agents', bearer('nonsense')), env('192.0.2.1'))
  }

  it('refuses the eleventh failed attempt of an address, with Retry-After', async () => {
    const made = await createSecuredApp()
    await failTimes(made, 9)
    const tenth = await made.app.fetch(get('/agents', bearer('nonsense')), env('192.0.2.1'))

    const eleventh = await made.app.fetch(get('/agents', bearer('nonsense')), env('192.0.2.1'))
    const other = await made.app.fetch(get('/agents', bearer('nonsense')), env('192.0.2.2'))

    expect([tenth.status, eleventh.status, other.status]).toEqual([401, 429, 401])
    expect(eleventh.headers.get('retry-after')).toBe('60')
    expect((await bodyOf(eleventh)).error).toBe('auth-locked-out')
    made.clock.advance(60_000)
    expect((await made.app.fetch(get('/agents', bearer('nonsense')), env('192.0.2.1'))).status).toBe(401)
  })

  it('accepts a valid token from a locked-out address, unless blockValid is set', async () => {
    const kind = await createSecuredApp()
    const strict = await createSecuredApp({ blockValid: true })
    await failTimes(kind, 100)
    await failTimes(strict, 10)

    const passed = await kind.app.fetch(get('/agents', bearer(kind.token)), env('192.0.2.1'))
    const blocked = await strict.app.fetch(get('/agents', bearer(strict.token)), env('192.0.2.1'))

    expect([passed.status, blocked.status]).toEqual([200, 429])
    expect((await strict.app.fetch(get('/agents', bearer(strict.token)), env('192.0.2.9'))).status).toBe(200)
  })

  it('does not count requests without credentials', async () => {
    const { app, token } = await createSecuredApp({ blockValid: true })
    for (let n = 0; n < 20; n++) expect((await app.fetch(get('/agents'), env('192.0.2.1'))).status).toBe(401)

    expect((await app.fetch(get('/agents', bearer(token)), env('192.0.2.1'))).status).toBe(200)
  })

  it('counts a hundred concurrent attempts individually', async () => {
    const { app } = await createSecuredApp()

    const statuses = await Promise.all(
      Array.from({ length: 100 }, async () => (await app.fetch(get('/agents', bearer('x')), env('192.0.2.1'))).status),
    )

    expect(statuses.filter((status) => status === 401)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(90)
  })
})

describe('a token in the URL', () => {
  it('is ignored and never logged', async () => {
    const { app, token, lines } = await createSecuredApp()

    for (const name of ['access_token', 'token', 'authorization']) {
      const response = await app.fetch(get(`/agents?${name}=${token}`))
      expect((await bodyOf(response)).error).toBe('auth-required')
    }
    expect(lines.length).toBeGreaterThan(0)
    expect(JSON.stringify(lines)).not.toContain(token)
  })
})

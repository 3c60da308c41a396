import { createAuthenticate, createManageTokens } from '@berth/core'
import { createInMemoryStorage } from '@berth/in-memory'
import { createManualClock, createSequenceIds } from '@berth/testkit'
import { describe, expect, it } from 'vitest'
import { bodyOf, createTestApp, get, testDigest } from '../app.fixture.ts'

const pepper = new Uint8Array(32)

async function createSecuredApp() {
  const { tokens, unitOfWork } = createInMemoryStorage()
  const clock = createManualClock()
  const shared = { tokens, unitOfWork, digest: testDigest, clock }
  const manage = createManageTokens({ ...shared, ids: createSequenceIds(), pepper })
  const ignore = () => {}
  const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
  const authenticate = createAuthenticate({ ...shared, logger, peppers: [pepper] })
  const expiresAt = clock.now() + 1_000
  const minted = await manage.mint({ name: 't', scopes: ['agents:read'], subject: 'alice', expiresAt }, 'test')
  return { ...createTestApp({ deps: { authenticate } }), ...minted, manage, tokenClock: clock }
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

describe('authentication', () => {
  it('lets a valid token in', async () => {
    const { app, token } = await createSecuredApp()

    expect((await app.fetch(get('/agents', bearer(token)))).status).toBe(200)
  })

  it('asks for a token where there is none', async () => {
    const { app } = await createSecuredApp()

    const response = await app.fetch(get('/agents'))

    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="berth"')
    expect(await bodyOf(response)).toMatchObject({ error: 'auth-required', requestId: expect.any(String) })
  })

  it('tells invalid, expired and revoked tokens apart', async () => {
    const { app, token, record, manage, tokenClock } = await createSecuredApp()
    const refusal = async (text: string) => {
      const response = await app.fetch(get('/agents', bearer(text)))
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="berth", error="invalid_token"')
      return (await bodyOf(response)).error
    }

    expect(await refusal('nonsense')).toBe('auth-invalid')
    tokenClock.advance(1_000)
    expect(await refusal(token)).toBe('auth-expired')
    await manage.revoke(record.id)
    expect(await refusal(token)).toBe('auth-revoked')
  })

  it('asks for nothing where anyone may', async () => {
    const { app } = await createSecuredApp()

    expect((await app.fetch(get('/health/live', bearer('nonsense')))).status).toBe(200)
    expect((await app.fetch(get('/openapi.json'))).status).toBe(200)
  })
})

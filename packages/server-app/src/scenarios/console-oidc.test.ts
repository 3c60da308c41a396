import { describe, expect, it } from 'vitest'
import { startOidcWorld } from './console-oidc.fixture.ts'

const json = async (response: Response) => (await response.json()) as Record<string, unknown>

describe('a sign-in to the console with a provider', () => {
  it('gives the user a session with the scopes of its roles, and nothing more', async () => {
    const { browser } = await startOidcWorld()

    const { response, url } = await browser.begin()
    expect(response.status).toBe(303)
    expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
      ...{ client_id: 'perdure', response_type: 'code', scope: 'openid profile', code_challenge_method: 'S256' },
      ...{ redirect_uri: 'http://localhost:8080/console/callback', state: expect.stringMatching(/^[0-9a-f]{64}$/) },
      nonce: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    const answer = await browser.finish(await browser.visitProvider(url))

    expect([answer.status, answer.headers.get('location'), answer.headers.get('cache-control')]).toEqual([
      ...[303, './', 'no-store'],
    ])
    expect(await json(await browser.read('/console/session'))).toMatchObject({
      subject: 'oidc:sso:alice',
      scopes: ['runs:read', 'tokens:read', 'tokens:create', 'agents:read'],
    })
    expect((await browser.read('/runs')).status).toBe(200)
    expect((await browser.read('/audit')).status).toBe(403)
  })

  it('works over the port of the server, too', async () => {
    const { browser } = await startOidcWorld({}, { server: { port: 0 } })

    expect((await browser.signIn()).headers.getSetCookie()).toHaveLength(2)

    expect((await browser.read('/console/session')).status).toBe(200)
  })

  it('keeps the secret and the session in cookies that scripts cannot read, and deletes the secret afterwards', async () => {
    const { browser } = await startOidcWorld()

    const { response, url } = await browser.begin()
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^perdure-sign-in-\w+=\d+\.[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/),
    ])
    const answer = await browser.finish(await browser.visitProvider(url))

    const [session, secret] = answer.headers.getSetCookie()
    expect(session).toMatch(/^perdure-console-\w+=perdure_\w+; Path=\/; Max-Age=3600; HttpOnly; SameSite=Strict$/)
    expect(secret).toMatch(/^perdure-sign-in-\w+=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax$/)
  })

  it('reads the roles again with each sign-in, and the session ends before that at the latest', async () => {
    const { browser, provider, storage } = await startOidcWorld({ sessionSeconds: 600 })
    await browser.signIn()
    const [session] = (await storage.tokens.list({ limit: 10, order: 'desc', cursor: undefined })).items
    const lifetime = (session?.expiresAt ?? 0) - (session?.createdAt ?? 0)
    expect(lifetime).toBeGreaterThan(590_000)
    expect(lifetime).toBeLessThanOrEqual(600_000)

    provider.roles.set('alice', 'visitors owners')
    await browser.signIn()
    expect(await json(await browser.read('/console/session'))).toMatchObject({ scopes: ['admin:*'] })

    provider.roles.set('alice', ['visitors'])
    expect((await browser.signIn()).status).toBe(403)
  })

  it('refuses a user without a role, in words that a person understands', async () => {
    const { browser, provider } = await startOidcWorld()
    for (const roles of [undefined, [], ['visitors'], { operators: true }, ['__proto__', 'constructor'], 'Operators']) {
      provider.roles.set('alice', roles)
      const answer = await browser.signIn()

      expect([answer.status, answer.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8'])
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(await answer.text()).toContain('your account has no role that may use this console (claim roles)')
      expect((await browser.read('/console/session')).status).toBe(401)
    }
  })

  it('is named by the audit, as is the sign-out', async () => {
    const { browser, storage } = await startOidcWorld()
    await browser.signIn()
    const { csrf = '' } = await csrfOf(browser)
    const answer = await browser.send('/v1/console/session', { method: 'DELETE', headers: { 'x-csrf-token': csrf } })

    expect(answer.status).toBe(204)
    expect((await browser.read('/runs')).status).toBe(401)
    const entries = await storage.audit.read({ afterSeq: 0, limit: 50 })
    expect(entries.map(({ action, actor }) => [action, actor.subject])).toEqual([
      ['console.sign-in', 'oidc:sso:alice'],
      ['console.sign-out', 'oidc:sso:alice'],
    ])
  })

  it('continues to the sign-out of the provider', async () => {
    const { browser, provider } = await startOidcWorld()

    const answer = await browser.send('/console/logout')

    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      `${provider.issuer}/session/end?client_id=perdure`,
    ])
  })

  it('ends when its subject is revoked, and works again with an ID token that was issued later', async () => {
    const { browser, admin } = await startOidcWorld()
    await browser.signIn()
    await admin.subjects.revoke('oidc:sso:alice', {})

    expect(await json(await browser.read('/runs'))).toMatchObject({ error: 'auth-revoked' })
    // ID tokens state the second in which they were issued.
    const late = await browser.signIn()
    expect([late.status, (await late.text()).includes('auth-revoked')]).toEqual([401, true])
    await new Promise((resolve) => setTimeout(resolve, 1_050))
    expect((await browser.signIn()).status).toBe(303)
  })

  it('creates tokens that end with the session, and that are not the user', async () => {
    const { browser, admin } = await startOidcWorld({ roles: { operators: ['tokens:create', 'agents:read'] } })
    await browser.signIn()
    const { csrf = '' } = await csrfOf(browser)
    const create = async (body: object) =>
      browser.send('/v1/tokens', {
        method: 'POST',
        body: JSON.stringify({ name: 'ci', scopes: ['agents:read'], ...body }),
        headers: { 'content-type': 'application/json', 'x-csrf-token': csrf },
      })

    expect((await create({ subject: 'oidc:sso:bob' })).status).toBe(400)
    const session = await json(await browser.read('/console/session'))
    const { token, subject, expiresAt } = await json(await create({}))
    expect([subject === session.subject, expiresAt]).toEqual([false, session.expiresAt])
    const withToken = { headers: { authorization: `Bearer ${token}` } }
    expect((await browser.send('/v1/agents', withToken)).status).toBe(200)
    await admin.subjects.revoke('oidc:sso:alice', {})
    expect((await browser.send('/v1/agents', withToken)).status).toBe(401)
  })

  it('finds the roles at the userinfo endpoint if the ID token has none', async () => {
    const { browser, provider } = await startOidcWorld()
    provider.requests.length = 0
    await browser.signIn()

    expect(provider.requests).toContain('/me')
    expect((await browser.read('/runs')).status).toBe(200)
  })
})

/** The value that changes have to send. */
async function csrfOf({ read, jar }: Awaited<ReturnType<typeof startOidcWorld>>['browser']) {
  await read('/console/session')
  return { csrf: [...jar].find(([name]) => name.startsWith('perdure-csrf-'))?.[1].value }
}

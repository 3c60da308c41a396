import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { forgeJwt } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { startOidcWorld } from './console-oidc.fixture.ts'
import { CLIENT } from './oidc-provider.fixture.ts'

type World = Awaited<ReturnType<typeof startOidcWorld>>

const stranger = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const nowSeconds = () => Math.floor(Date.now() / 1_000)

/** The address at the server to which the provider has sent the browser, with a code that is not yet used. */
async function reachCallback({ browser }: World): Promise<{ readonly back: URL; readonly nonce: string }> {
  const { url } = await browser.begin()
  return { back: await browser.visitProvider(url), nonce: new URL(url).searchParams.get('nonce') ?? '' }
}

const withQuery = (back: URL, change: (query: URLSearchParams) => void): URL => {
  const url = new URL(back)
  change(url.searchParams)
  return url
}

async function expectRefused({ browser, storage }: World, answer: Response, message: string): Promise<void> {
  expect([answer.status, await answer.text()]).toEqual([401, expect.stringContaining(message)])
  expect((await browser.read('/console/session')).status).toBe(401)
  expect((await storage.tokens.list({ limit: 1, order: 'desc', cursor: undefined })).items).toEqual([])
}

describe('a sign-in with a provider', () => {
  it.each<[string, (query: URLSearchParams) => void]>([
    ['another state', (query) => query.set('state', '0'.repeat(64))],
    ['no state', (query) => query.delete('state')],
  ])('refuses an answer with %s, and does not redeem its code', async (_, change) => {
    const world = await startOidcWorld()
    const { back } = await reachCallback(world)

    const answer = await world.browser.finish(withQuery(back, change))

    await expectRefused(world, answer, 'the answer of the provider belongs to another sign-in')
    expect(world.provider.requests).not.toContain('/token')
  })

  it('refuses the answer to a sign-in that another browser has begun', async () => {
    const world = await startOidcWorld()
    const attacker = world.openBrowser()
    const back = await attacker.visitProvider((await attacker.begin()).url)

    const withoutSecret = await world.browser.finish(back)
    await expectRefused(world, withoutSecret, 'this browser has not begun a sign-in in the last 10 minutes')
    await world.browser.begin()
    const withOther = await world.browser.finish(back)
    await expectRefused(world, withOther, 'the answer of the provider belongs to another sign-in')
    expect(world.provider.requests).not.toContain('/token')
  })

  it('refuses a secret that was set twice, changed or made up', async () => {
    const world = await startOidcWorld()
    const { back } = await reachCallback(world)
    const [[name, { value }] = ['', { value: '' }]] = [...world.browser.jar]
    const [begunAt = '', secret = ''] = value.split('.')
    for (const forged of [
      `${value}; ${name}=${value}`,
      `${Number(begunAt) + 1}.${secret}`,
      `${begunAt}.${secret.toLowerCase()}`,
      secret,
      '',
    ]) {
      world.browser.jar.set(name, { value: forged, attributes: 'SameSite=Lax' })
      expect((await world.browser.finish(back)).status).toBe(401)
    }
    expect(world.provider.requests).not.toContain('/token')
    world.browser.jar.set(name, { value, attributes: 'SameSite=Lax' })
    expect((await world.browser.finish(back)).status).toBe(303)
  })

  it('cannot be repeated: neither with the address alone nor with a copy of the secret', async () => {
    const world = await startOidcWorld()
    const { back } = await reachCallback(world)
    const copy = new Map(world.browser.jar)
    expect((await world.browser.finish(back)).status).toBe(303)
    const thief = world.openBrowser()

    expect((await thief.finish(back)).status).toBe(401)
    for (const [name, cookie] of copy) thief.jar.set(name, cookie)
    const answer = await thief.finish(back)
    expect([answer.status, await answer.text()]).toEqual([
      401,
      expect.stringContaining('the answer of the provider is not valid for this sign-in'),
    ])
    expect((await thief.read('/console/session')).status).toBe(401)
  })

  it.each<[string, (query: URLSearchParams) => void]>([
    ['names another issuer', (query) => query.set('iss', 'https://evil.test')],
    ['names no issuer although the provider always does', (query) => query.delete('iss')],
    ['has an ID token in the address', (query) => query.set('id_token', 'a.b.c')],
    ['has no code', (query) => query.delete('code')],
  ])('refuses an answer that %s, and does not redeem its code', async (_, change) => {
    const world = await startOidcWorld()
    const { back } = await reachCallback(world)

    const answer = await world.browser.finish(withQuery(back, change))

    await expectRefused(world, answer, 'the answer of the provider is not valid for this sign-in')
    expect(world.provider.requests).not.toContain('/token')
  })

  interface Lie {
    readonly claims?: object
    readonly header?: object
    readonly key?: KeyObject | Uint8Array | undefined
  }
  /** Lets the provider send an ID token with these claims instead of its own. */
  const lieWith = ({ provider }: World, nonce: string, { claims, header, ...lie }: Lie): void => {
    const key = 'key' in lie ? lie.key : provider.privateKey
    const idToken = forgeJwt({
      header: { alg: 'RS256', kid: 'own', ...header },
      claims: {
        ...{ iss: provider.issuer, aud: CLIENT.id, sub: 'alice', nonce, roles: ['owners'] },
        ...{ iat: nowSeconds(), exp: nowSeconds() + 60, ...claims },
      },
      key,
    })
    provider.lies.set('/token', (_request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ access_token: 'a', token_type: 'Bearer', id_token: idToken }))
    })
  }

  it.each<[string, Lie]>([
    ['another nonce', { claims: { nonce: '0'.repeat(64) } }],
    ['no nonce', { claims: { nonce: undefined } }],
    ['another issuer', { claims: { iss: 'https://evil.test' } }],
    ['another audience', { claims: { aud: 'billing' } }],
    ['another authorized party', { claims: { aud: [CLIENT.id, 'billing'], azp: 'billing' } }],
    ['an end in the past', { claims: { exp: nowSeconds() - 120 } }],
    ['no end', { claims: { exp: undefined } }],
    ['no time of issue', { claims: { iat: undefined } }],
    ['no subject', { claims: { sub: undefined } }],
    ['a subject with a line break', { claims: { sub: 'alice\nX: 1' } }],
    ['an empty subject', { claims: { sub: '' } }],
    ['the signature of a stranger', { key: stranger.privateKey }],
    ['a key that nobody has published', { header: { kid: 'other' } }],
    ['no signature', { header: { alg: 'none' }, key: undefined }],
    ['HMAC with the client secret', { header: { alg: 'HS256' }, key: new TextEncoder().encode(CLIENT.secret) }],
  ])('refuses an ID token with %s', async (_, lie) => {
    const world = await startOidcWorld()
    const { back, nonce } = await reachCallback(world)
    lieWith(world, nonce, lie)

    const answer = await world.browser.finish(back)

    expect(answer.status).toBe(401)
    expect((await world.browser.read('/console/session')).status).toBe(401)
  })

  it('refuses an ID token with an algorithm that is not the configured one', async () => {
    const world = await startOidcWorld({ algorithm: 'ES256' })
    const { back } = await reachCallback(world)

    await expectRefused(world, await world.browser.finish(back), 'is not valid for this sign-in')
  })

  it('accepts the same ID token without such a fault', async () => {
    const world = await startOidcWorld()
    const { back, nonce } = await reachCallback(world)
    lieWith(world, nonce, {})

    expect((await world.browser.finish(back)).status).toBe(303)
    expect((await world.browser.read('/console/session')).status).toBe(200)
  })

  it('refuses the claims of another user at the userinfo endpoint', async () => {
    const world = await startOidcWorld()
    const { back } = await reachCallback(world)
    world.provider.lies.set('/me', (_, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ sub: 'root', roles: ['owners'] }))
    })

    await expectRefused(world, await world.browser.finish(back), 'is not valid for this sign-in')
  })

  const byEmail = { claim: 'email', roles: { 'root@corp.test': ['admin:*'] } }

  it.each<[string, number, object]>([
    ['has not verified', 403, { email: 'root@corp.test', email_verified: false }],
    ['says nothing about', 403, { email: 'root@corp.test' }],
    ['has verified', 303, { email: 'root@corp.test', email_verified: true }],
  ])('with an e-mail address that the provider %s is answered with %i', async (_, status, claims) => {
    const world = await startOidcWorld(byEmail)
    const { back, nonce } = await reachCallback(world)
    lieWith(world, nonce, { claims })

    expect((await world.browser.finish(back)).status).toBe(status)
  })

  it('takes an e-mail address and its verification from the same answer', async () => {
    const world = await startOidcWorld(byEmail)
    const { back, nonce } = await reachCallback(world)
    lieWith(world, nonce, { claims: { email_verified: true } })
    world.provider.lies.set('/me', (_, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ sub: 'alice', email: 'root@corp.test' }))
    })

    expect((await world.browser.finish(back)).status).toBe(403)
  })

  it('says that the user has cancelled, and shows nothing else that the address contains', async () => {
    const world = await startOidcWorld()
    const { back } = await reachCallback(world)
    const cancelled = (error: string) =>
      withQuery(back, (query) => {
        query.delete('code')
        query.set('error', error)
        query.set('error_description', '<script>alert(1)</script>')
      })

    const answer = await world.browser.finish(cancelled('access_denied'))
    const text = await answer.text()

    expect(text).toContain('the sign-in was cancelled or denied at the provider')
    expect(text).not.toContain('script')
    const odd = await (await world.browser.finish(cancelled('<img src=x>'))).text()
    expect(odd).not.toContain('<img')
  })

  it('locks the address after ten answers that belong to no sign-in', async () => {
    const world = await startOidcWorld()
    const { back } = await reachCallback(world)
    const forged = withQuery(back, (query) => query.set('state', 'x'))
    for (let attempt = 0; attempt < 10; attempt++) {
      expect((await world.browser.finish(forged)).status).toBe(401)
    }

    const answer = await world.browser.finish(forged)
    expect([answer.status, answer.headers.has('retry-after')]).toEqual([429, true])
  })

  it('fails closed while the provider answers with errors, and logs why', async () => {
    const world = await startOidcWorld()
    const { back } = await reachCallback(world)
    world.provider.lies.set('/token', (_, response) => response.writeHead(500).end('down'))

    const answer = await world.browser.finish(back)

    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await answer.text()).toContain('the identity provider cannot be reached')
    expect(world.lines.join('\n')).toContain('cannot finish a sign-in to the console')
    expect((await world.browser.read('/console/session')).status).toBe(401)
  })

  it('never shows or logs the code, the secret of the client or a token of the provider', async () => {
    const world = await startOidcWorld()
    const { back } = await reachCallback(world)
    const code = back.searchParams.get('code') ?? ''
    expect((await world.browser.finish(back)).status).toBe(303)
    const repeated = await world.browser.finish(back)

    const shown = [await repeated.text(), ...world.lines].join('\n')
    expect(code).not.toBe('')
    for (const secret of [code, CLIENT.secret]) expect(shown).not.toContain(secret)
  })
})

import type { ProviderSignIn } from '@perdure/core'
import { perdureError } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { createTestApp, get } from '../app.fixture.ts'
import { TEST_CONSOLE } from '../console/console-data.fixture.ts'

const bytes = new TextEncoder().encode('<meta content="%SIGN_IN%">')
const assets = new Map([['index.html', { type: 'text/html', body: bytes, brotli: bytes, gzip: bytes }]])
const consoleData = { ...TEST_CONSOLE, assets }

const PROVIDER: ProviderSignIn = {
  isEnabled: true,
  begin: async () => ({ url: 'https://login.test/auth', secret: '1.secret', maxAgeSeconds: 600 }),
  finish: async ({ query, secret }) => {
    if (query.get('state') !== 's') {
      throw perdureError('auth-invalid', { message: `<b>refused</b> & "${secret}"`, hint: 'try <again>' })
    }
    return { session: { subject: 'oidc:sso:alice', scopes: [], env: 'live' }, cookie: 'c', maxAgeSeconds: 60 }
  },
  endSessionUrl: async () => undefined,
}

const setUp = (providerSignIn?: ProviderSignIn) =>
  createTestApp({
    auth: 'token',
    deps: { consoleData, ...(providerSignIn === undefined ? {} : { providerSignIn }) },
  }).app

const page = (path: string, headers: Record<string, string> = {}) =>
  new Request(`https://perdure.test/tools/console${path}`, { headers: { host: 'perdure.test', ...headers } })
const config = { basePath: '/tools/v1' }

describe('the pages of a sign-in', () => {
  it('exist only with a provider', async () => {
    for (const path of ['/login', '/callback', '/logout']) {
      const request = new Request(`http://localhost/console${path}`)
      expect((await setUp().fetch(request)).status).toBe(404)
      expect((await setUp(PROVIDER).fetch(request)).status).not.toBe(404)
    }
  })

  it('are announced by the page of the console', async () => {
    const text = async (app: ReturnType<typeof setUp>) =>
      (await app.fetch(new Request('http://localhost/console/'))).text()

    expect(await text(setUp(PROVIDER))).toBe('<meta content="provider">')
    expect(await text(setUp())).toBe('<meta content="token">')
  })

  it('set cookies that no other host can set, over TLS, and redirect below any prefix', async () => {
    const { app } = createTestApp({ auth: 'token', config, deps: { consoleData, providerSignIn: PROVIDER } })

    const login = await app.fetch(page('/login'))
    const callback = await app.fetch(page('/callback?state=s&code=c'))
    const logout = await app.fetch(page('/logout'))

    expect([login, callback, logout].map(({ status, headers }) => [status, headers.get('location')])).toEqual([
      [303, 'https://login.test/auth'],
      [303, './'],
      [303, './'],
    ])
    expect(login.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-perdure-sign-in-\w+=1\.secret; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
      ),
    ])
    expect(callback.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-perdure-console-\w+=c; Path=\/; Max-Age=60; HttpOnly; SameSite=Strict; Secure$/),
      expect.stringMatching(/^__Host-perdure-sign-in-\w+=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax; Secure$/),
    ])
    for (const { headers } of [login, callback, logout]) {
      expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual(['no-store', 'no-referrer'])
    }
  })

  it('show errors as a page without scripts, in which nothing becomes markup', async () => {
    const app = setUp(PROVIDER)

    const answer = await app.fetch(new Request('http://localhost/console/callback?state=x'))
    const text = await answer.text()

    expect([answer.status, answer.headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8'])
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'/)
    expect(text).toContain('&#60;b&#62;refused&#60;/b&#62; &#38; &#34;undefined&#34;')
    expect(text).toContain('try &#60;again&#62;')
    const repeated = await app.fetch(new Request('http://localhost/console/callback?state=s&state=x'))
    expect([repeated.status, await repeated.text()]).toEqual([400, expect.stringContaining('sent more than once')])
  })

  it('do not change how errors of the API look', async () => {
    const answer = await setUp(PROVIDER).fetch(get('/runs'))

    expect([answer.status, answer.headers.get('content-type')]).toEqual([401, 'application/json; charset=utf-8'])
  })
})

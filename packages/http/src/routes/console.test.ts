import { OPERATIONS } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { type AppOptions, bearer, bodyOf, createTestApp, get, ORIGIN, post, refusalOf } from '../app.fixture.ts'
import { TEST_CONSOLE } from '../console/console-data.fixture.ts'
import type { ConsoleData } from '../console/console-data.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const asset = (type: string, text: string) => ({ type, body: bytes(text), brotli: bytes('br'), gzip: bytes('gz') })
const ASSETS: ConsoleData['assets'] = new Map([
  ['index.html', asset('text/html; charset=utf-8', '<meta content="%API%"><meta content="%CSRF%">')],
  ['console-1.js', asset('text/javascript; charset=utf-8', 'run()')],
])
const DATA: ConsoleData = { ...TEST_CONSOLE, assets: ASSETS }

async function setUp(scopes: readonly string[] = ['admin:*'], options: AppOptions = {}) {
  const { app, manage, clock, storage, notes } = createTestApp({
    auth: 'token',
    ...options,
    deps: { consoleData: DATA },
  })
  const { token, record } = await manage.mint({ name: 'ops', scopes, subject: 'alice', env: 'local' }, 'test')

  const cookiesOf = (response: Response): string =>
    response.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';')[0])
      .join('; ')

  /** Signs in and reads the session, as a page does. */
  const signIn = async (credential: object = { token }) => {
    const response = await app.fetch(post('/console/session', credential))
    const session = cookiesOf(response)
    const read = await app.fetch(get('/console/session', { cookie: session }))
    const csrf = cookiesOf(read)
    return { response, cookie: `${session}; ${csrf}`, session, csrf: csrf.slice(csrf.indexOf('=') + 1) }
  }
  const codeFor = async (by = token) =>
    String((await bodyOf(await app.fetch(post('/console/codes', {}, bearer(by))))).code)
  return { app, clock, storage, notes, manage, token, record, signIn, codeFor }
}

describe('signing in to the console', () => {
  it('exchanges a token for a cookie that has the scopes of the token', async () => {
    const { app, signIn } = await setUp(['agents:read', 'approvals:read:own'])

    const { response, session } = await signIn()
    const [setCookie] = response.headers.getSetCookie()

    expect(response.status).toBe(201)
    expect(setCookie).toMatch(
      /^perdure-console-[0-9a-f]{10}=perdure_local_v1_\w+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    )
    expect(await bodyOf(response)).toMatchObject({
      ...{ subject: 'alice', scopes: ['agents:read', 'approvals:read:own'], env: 'local', readOnly: false },
    })
    expect((await app.fetch(get('/agents', { cookie: session }))).status).toBe(200)
    expect(await refusalOf(await app.fetch(get('/tokens', { cookie: session })))).toEqual({
      status: 403,
      error: 'scope-denied',
    })
  })

  it('marks the cookie as secure over TLS', async () => {
    const { app, token } = await setUp()
    const request = new Request('https://perdure.example/v1/console/session', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Host: 'perdure.example' },
      body: JSON.stringify({ token }),
    })

    const [setCookie] = (await app.fetch(request)).headers.getSetCookie()

    expect(setCookie).toMatch(
      /^__Host-perdure-console-[0-9a-f]{10}=\w+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/,
    )
  })

  it('accepts a code once, and only until it expires', async () => {
    const { app, clock, codeFor } = await setUp()
    const code = await codeFor()
    const late = await codeFor()

    expect((await app.fetch(post('/console/session', { code }))).status).toBe(201)
    expect(await refusalOf(await app.fetch(post('/console/session', { code })))).toEqual({
      status: 401,
      error: 'auth-invalid',
    })
    clock.advance(300_000)
    expect(await refusalOf(await app.fetch(post('/console/session', { code: late })))).toEqual({
      status: 401,
      error: 'auth-invalid',
    })
  })

  it('does not accept a WebSocket ticket as a code', async () => {
    const { app, token } = await setUp()
    const { ticket } = await bodyOf(await app.fetch(post('/session/ws-ticket', {}, bearer(token))))

    const answer = await app.fetch(post('/console/session', { code: ticket }))

    expect(await refusalOf(answer)).toEqual({ status: 401, error: 'auth-invalid' })
  })

  it.each([{}, { code: 'a', token: 'b' }, { token: '' }, { token: 'x'.repeat(300) }, { other: 1 }])(
    'rejects the body %j',
    async (body) => {
      const { app } = await setUp()

      expect(await refusalOf(await app.fetch(post('/console/session', body)))).toEqual({
        status: 400,
        error: 'validation-failed',
      })
    },
  )

  it('rejects a revoked and an unknown token', async () => {
    const { app, manage, record, token } = await setUp()
    await manage.revoke(record.id, 'test')

    expect((await refusalOf(await app.fetch(post('/console/session', { token })))).error).toBe('auth-revoked')
    expect((await refusalOf(await app.fetch(post('/console/session', { token: 'junk' })))).error).toBe('auth-invalid')
  })

  it('locks an address out after ten wrong codes', async () => {
    const { app } = await setUp()
    const env = { incoming: { socket: { remoteAddress: '192.0.2.7' } } }
    const errors = []
    for (let n = 0; n < 11; n++)
      errors.push((await refusalOf(await app.fetch(post('/console/session', { code: `c${n}` }), env))).error)

    expect(errors.at(0)).toBe('auth-invalid')
    expect(errors.at(-1)).toBe('auth-locked-out')
  })

  it('issues no code to a caller without a token', async () => {
    const { app } = createTestApp()

    expect(await refusalOf(await app.fetch(post('/console/codes', {})))).toEqual({
      status: 400,
      error: 'validation-failed',
    })
  })

  it('never outlives the token that signed in', async () => {
    const { app, manage, clock } = await setUp()
    const { token } = await manage.mint({ name: 'short', scopes: ['admin:*'], expiresAt: clock.now() + 60_000 }, 'test')

    const response = await app.fetch(post('/console/session', { token }))

    expect(response.headers.getSetCookie()[0]).toContain('Max-Age=60;')
  })

  it('writes an audit entry that names the session and not its secret', async () => {
    const { app, token, signIn } = await setUp()
    const { session } = await signIn()

    const audit = await (await app.fetch(get('/audit', bearer(token)))).text()

    expect(audit).toContain('console.sign-in')
    expect(audit).not.toContain(session.slice(session.indexOf('=') + 1))
  })
})

describe('a session of the console', () => {
  it('is refused as a bearer token, also with console.readOnly, by every operation and as a sign-in', async () => {
    const { app, signIn } = await setUp(['admin:*'], { config: { consoleReadOnly: true } })
    const { session } = await signIn()
    const value = session.slice(session.indexOf('=') + 1)

    const refused: string[] = []
    let addresses = 0
    // Ten refusals would lock an address out.
    const fromOwnAddress = () => ({ incoming: { socket: { remoteAddress: `192.0.2.${++addresses}` } } })
    for (const { id, method, path, scope } of OPERATIONS) {
      if (scope === null) continue
      const url = `${ORIGIN}/v1${path.replaceAll(/:\w+/g, 'x')}`
      const request = new Request(url, { method, headers: { ...bearer(value), cookie: session } })
      const answer = await app.fetch(request, fromOwnAddress())
      const { error } = await refusalOf(answer)
      // The protocols of other packages are not mounted here.
      if (error === 'route-not-found') continue
      expect([id, answer.status]).toEqual([id, 401])
      refused.push(id)
    }
    expect(refused.length).toBeGreaterThan(80)
    const signInAgain = await app.fetch(post('/console/session', { token: value }), fromOwnAddress())
    expect(await refusalOf(signInAgain)).toEqual({ status: 401, error: 'auth-invalid' })
    expect((await app.fetch(get('/agents', { cookie: session }))).status).toBe(200)
  })

  it('is no bearer token in its cookie', async () => {
    const { app, token, signIn } = await setUp()
    const { session } = await signIn()
    const cookie = `${session.slice(0, session.indexOf('='))}=${token}`

    expect(await refusalOf(await app.fetch(get('/agents', { cookie })))).toEqual({ status: 401, error: 'auth-invalid' })
  })

  it('survives a change of the pepper, and is still refused as a bearer token', async () => {
    const [old, current] = ['o', 'n'].map((text) => new TextEncoder().encode(text.repeat(32))) as [
      Uint8Array,
      Uint8Array,
    ]
    const { signIn, storage, clock } = await setUp(['admin:*'], { peppers: [old] })
    const { session } = await signIn()
    const { app } = createTestApp({ auth: 'token', on: { storage, clock }, peppers: [current, old] })

    for (let times = 0; times < 2; times++) {
      expect((await app.fetch(get('/agents', { cookie: session }))).status).toBe(200)
      const value = session.slice(session.indexOf('=') + 1)
      expect((await refusalOf(await app.fetch(get('/agents', bearer(value))))).error).toBe('auth-invalid')
    }
  })

  it('needs the CSRF token of its cookie for every change', async () => {
    const { app, signIn } = await setUp()
    const { cookie, csrf, session } = await signIn()
    const run = (headers: Record<string, string>) => app.fetch(post('/agents/echo/run', { input: 1 }, headers))

    expect(await refusalOf(await run({ cookie }))).toEqual({ status: 403, error: 'csrf-denied' })
    expect(await refusalOf(await run({ cookie: session, 'X-CSRF-Token': csrf }))).toEqual({
      status: 403,
      error: 'csrf-denied',
    })
    expect((await run({ cookie, 'X-CSRF-Token': csrf })).status).toBe(200)
    const fromElsewhere = await run({ cookie, 'X-CSRF-Token': csrf, 'Sec-Fetch-Site': 'cross-site' })
    expect(await refusalOf(fromElsewhere)).toEqual({ status: 403, error: 'csrf-denied' })
  })

  it('ends when it signs out, and when the token behind it is revoked', async () => {
    const { app, manage, record, signIn } = await setUp()
    const [first, second] = [await signIn(), await signIn()]
    const read = (cookie: string) => app.fetch(get('/agents', { cookie }))
    const signOut = new Request(`${ORIGIN}/v1/console/session`, {
      method: 'DELETE',
      headers: { cookie: first.cookie, 'X-CSRF-Token': first.csrf },
    })

    const out = await app.fetch(signOut)

    expect(out.status).toBe(204)
    expect(out.headers.getSetCookie()[0]).toMatch(/^perdure-console-\w+=; Path=\/; Max-Age=0;/)
    expect(await refusalOf(await read(first.cookie))).toEqual({ status: 401, error: 'auth-revoked' })
    expect((await read(second.cookie)).status).toBe(200)
    await manage.revoke(record.id, 'test')
    expect(await refusalOf(await read(second.cookie))).toEqual({ status: 401, error: 'auth-revoked' })
  })

  it('creates tokens that outlive it soon after the sign-in, and ends them with the token that signed in', async () => {
    const { app, manage, clock, record, signIn } = await setUp()
    const { cookie, csrf } = await signIn()
    const headers = { cookie, 'X-CSRF-Token': csrf }
    const minted = await bodyOf(await app.fetch(post('/tokens', { name: 'ci', scopes: ['agents:read'] }, headers)))
    await app.fetch(new Request(`${ORIGIN}/v1/console/session`, { method: 'DELETE', headers }))
    clock.advance(13 * 3_600_000)
    const read = async () => (await app.fetch(get('/agents', bearer(String(minted.token))))).status

    expect(minted).toMatchObject({ parentId: record.id, createdBy: expect.stringMatching(/^tok_/) })
    expect(minted).not.toHaveProperty('expiresAt')
    expect(await read()).toBe(200)
    await manage.revoke(record.id, 'test')
    expect(await read()).toBe(401)
  })

  it('creates only tokens that end with it later on, until the user signs in again', async () => {
    const { app, clock, signIn, token } = await setUp()
    const { cookie, csrf, response } = await signIn()
    const headers = { cookie, 'X-CSRF-Token': csrf }
    const { expiresAt } = await bodyOf(response)
    const mint = (over: object = {}, by: Record<string, string> = headers) =>
      app.fetch(post('/tokens', { name: 'ci', scopes: ['agents:read'], ...over }, by))
    clock.advance(10 * 60_000 + 1)

    const minted = await bodyOf(await mint())
    expect(minted).toMatchObject({ expiresAt })
    const later = await mint({ expiresAt: new Date(Date.parse(String(expiresAt)) + 1).toISOString() })
    expect(await later.clone().json()).toMatchObject({ hint: expect.stringContaining('sign in again') })
    expect((await refusalOf(later)).error).toBe('scope-escalation-denied')
    const permanent = await bodyOf(await mint({}, bearer(token)))
    const rotated = await app.fetch(post(`/tokens/${permanent.id}/rotate`, {}, headers))
    expect(await bodyOf(rotated)).toMatchObject({ expiresAt })

    // A session that signs in with a code of the session is not a new sign-in of the user.
    const { code } = await bodyOf(await app.fetch(post('/console/codes', {}, headers)))
    const second = await signIn({ code })
    const bySecond = { cookie: second.cookie, 'X-CSRF-Token': second.csrf }
    expect(await bodyOf(await mint({}, bySecond))).toMatchObject({ expiresAt })

    const again = await signIn()
    const byAgain = { cookie: again.cookie, 'X-CSRF-Token': again.csrf }
    expect(await bodyOf(await mint({}, byAgain))).not.toHaveProperty('expiresAt')
  })

  it('lists the valid tokens that it has created when it signs out', async () => {
    const { app, token, clock, signIn } = await setUp()
    const other = await signIn()
    const { cookie, csrf } = await signIn()
    clock.advance(1)
    const headers = { cookie, 'X-CSRF-Token': csrf }
    const mint = async (name: string, by: Record<string, string>, over: object = {}) =>
      bodyOf(await app.fetch(post('/tokens', { name, scopes: ['agents:read'], ...over }, by)))
    const end = (by: Record<string, string>) =>
      app.fetch(new Request(`${ORIGIN}/v1/console/session`, { method: 'DELETE', headers: by }))
    const kept = await mint('kept', headers)
    const brief = await mint('brief', headers, { expiresAt: new Date(clock.now() + 1_000).toISOString() })
    const revoked = await mint('revoked', headers)
    await mint('by-bearer', bearer(token))
    await app.fetch(new Request(`${ORIGIN}/v1/tokens/${revoked.id}`, { method: 'DELETE', headers: bearer(token) }))
    for (let n = 0; n < 210; n++) await mint(`many-${n}`, bearer(token))
    clock.advance(1_000)

    const answer = await end(headers)

    expect(answer.status).toBe(200)
    expect(answer.headers.getSetCookie()[0]).toContain('Max-Age=0;')
    expect(await answer.json()).toEqual({ tokens: [{ id: kept.id, name: 'kept' }] })
    expect(brief).toHaveProperty('expiresAt')
    expect((await end({ cookie: other.cookie, 'X-CSRF-Token': other.csrf })).status).toBe(204)
  })

  it('leaves a bearer token alone when its owner signs out', async () => {
    const { app, token } = await setUp()
    await app.fetch(new Request(`${ORIGIN}/v1/console/session`, { method: 'DELETE', headers: bearer(token) }))

    expect((await app.fetch(get('/agents', bearer(token)))).status).toBe(200)
  })

  it('changes nothing while console.readOnly is set, and tokens still do', async () => {
    const { app, token, signIn } = await setUp(['admin:*'], { config: { consoleReadOnly: true } })
    const { cookie, csrf } = await signIn()
    const headers = { cookie, 'X-CSRF-Token': csrf }

    expect(await refusalOf(await app.fetch(post('/agents/echo/run', { input: 1 }, headers)))).toEqual({
      ...{ status: 403, error: 'console-read-only' },
    })
    expect((await app.fetch(post('/session/ws-ticket', {}, headers))).status).toBe(201)
    expect((await app.fetch(post('/memory/search', { query: 'a' }, headers))).status).toBe(200)
    expect((await app.fetch(post('/agents/echo/run', { input: 1 }, bearer(token)))).status).toBe(200)
  })

  it('is ignored when the console is off', async () => {
    const on = await setUp()
    const { session } = await on.signIn()
    const { app } = createTestApp({ auth: 'token', on, config: { consoleEnabled: false } })

    expect(await refusalOf(await app.fetch(get('/agents', { cookie: session })))).toEqual({
      status: 401,
      error: 'auth-required',
    })
    expect((await app.fetch(get('/console/session', { cookie: session }))).status).toBe(404)
  })

  it('has a cookie that servers on another port or with another pepper neither read nor replace', async () => {
    const on = await setUp()
    const { session } = await on.signIn()
    const otherPepper = createTestApp({ auth: 'token', on, peppers: [new Uint8Array(32).fill(9)] })
    const otherPort = new Request('http://127.0.0.1:9999/v1/agents', {
      headers: { cookie: session, host: '127.0.0.1:9999' },
    })

    expect((await on.app.fetch(get('/agents', { cookie: session }))).status).toBe(200)
    expect(await refusalOf(await on.app.fetch(otherPort))).toEqual({ status: 401, error: 'auth-required' })
    expect(await refusalOf(await otherPepper.app.fetch(get('/agents', { cookie: session })))).toEqual({
      ...{ status: 401, error: 'auth-required' },
    })
  })

  it('survives a rotation of the pepper', async () => {
    const [before, after] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
    const on = await setUp(['admin:*'], { peppers: [before] })
    const { session } = await on.signIn()
    const { app } = createTestApp({ auth: 'token', on, peppers: [after, before] })

    const read = await app.fetch(get('/agents', { cookie: session }))
    const csrf = read.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const headers = { cookie: `${session}; ${csrf}`, 'X-CSRF-Token': csrf.slice(csrf.indexOf('=') + 1) }

    expect(read.status).toBe(200)
    expect((await app.fetch(post('/agents/echo/run', { input: 1 }, headers))).status).toBe(200)
  })

  it('is not trusted when two cookies have its name', async () => {
    const { app, signIn } = await setUp()
    const { session } = await signIn()

    const answer = await app.fetch(get('/agents', { cookie: `${session}; ${session}` }))

    expect(await refusalOf(answer)).toEqual({ status: 401, error: 'auth-required' })
  })
})

describe('the data of the console', () => {
  it.each([
    ['/console/system', 'config:read', { configuration: [{ path: 'server.port', value: 8080, origin: 'default' }] }],
    ['/console/metrics', 'admin:metrics:read', { intervalMs: 15_000 }],
  ])('%s is read with the scope %s', async (path, scope, body) => {
    const allowed = await setUp([scope])
    const refused = await setUp(['runs:read'])

    expect(await bodyOf(await allowed.app.fetch(get(path, bearer(allowed.token))))).toMatchObject(body)
    expect((await refusalOf(await refused.app.fetch(get(path, bearer(refused.token))))).error).toBe('scope-denied')
  })
})

describe('the files of the console', () => {
  const page = (path: string, headers: Record<string, string> = {}) => new Request(`${ORIGIN}${path}`, { headers })

  it('are beside the base path, with a policy that allows only this server', async () => {
    const { app } = await setUp()
    const entrance = await app.fetch(page('/console'))
    const html = await app.fetch(page('/console/'))

    expect([entrance.status, entrance.headers.get('location')]).toEqual([308, 'console/'])
    expect(await html.text()).toMatch(/^<meta content="\.\.\/v1"><meta content="perdure-csrf-[0-9a-f]{10}">$/)
    expect(html.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    )
    expect(html.headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'")
    expect(Object.fromEntries(html.headers)).toMatchObject({
      'cache-control': 'no-cache',
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
  })

  it('are sent compressed to browsers that accept it, and may be kept forever', async () => {
    const { app } = await setUp()
    const read = async (accepted: string) => {
      const response = await app.fetch(page('/console/console-1.js', { 'Accept-Encoding': accepted }))
      return [response.headers.get('content-encoding'), await response.text()]
    }

    expect(await read('gzip, deflate, br')).toEqual(['br', 'br'])
    expect(await read('gzip')).toEqual(['gzip', 'gz'])
    expect(await read('')).toEqual([null, 'run()'])
    const { headers } = await app.fetch(page('/console/console-1.js'))
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  })

  it('tell caches that their encoding varies, and are not sent again to a client that has them', async () => {
    const { app } = await setUp()
    const read = (headers: Record<string, string>) => app.fetch(page('/console/console-1.js', headers))
    const first = await read({ 'Accept-Encoding': 'br' })
    const tag = first.headers.get('etag') ?? ''

    expect(first.headers.get('vary')?.split(', ').sort()).toEqual(['Accept-Encoding', 'Origin'])
    const again = await read({ 'Accept-Encoding': 'br', 'If-None-Match': `"other", ${tag}` })
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', tag])
    expect(again.headers.get('vary')?.split(', ').sort()).toEqual(['Accept-Encoding', 'Origin'])
    expect((await read({ 'Accept-Encoding': 'gzip', 'If-None-Match': tag })).status).toBe(200)
  })

  it.each(['/console/index.html', '/console/other.js', '/console/..%2Fpackage.json', '/console/a/b', '/consoles'])(
    'do not include %s',
    async (path) => {
      const { app } = await setUp()

      expect(await refusalOf(await app.fetch(page(path)))).toEqual({ status: 404, error: 'route-not-found' })
    },
  )

  it('have a rate limit of their own', async () => {
    const { app } = await setUp(['admin:*'], { config: { perIpRequests: 2 } })
    const env = { incoming: { socket: { remoteAddress: '192.0.2.7' } } }
    const statusOf = async (path: string) => (await app.fetch(page(path), env)).status

    expect([await statusOf('/console/'), await statusOf('/console/'), await statusOf('/console/')]).toEqual([
      200, 200, 429,
    ])
    expect(await statusOf('/v1/openapi.json')).toBe(200)
  })

  it('are found below any base path', async () => {
    const { app } = createTestApp({ config: { basePath: '/tools/ai/v2' }, deps: { consoleData: DATA } })

    expect(await (await app.fetch(page('/tools/ai/console/'))).text()).toContain('<meta content="../v2">')
  })
})

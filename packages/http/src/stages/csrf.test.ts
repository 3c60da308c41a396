import { describe, expect, it } from 'vitest'
import { type AppOptions, createTestApp, get, ORIGIN, post, refusalOf } from '../app.fixture.ts'

const DENIED = { status: 403, error: 'csrf-denied' }
const abort = (headers: Record<string, string> = {}) => post('/agents/echo/abort', {}, headers)

describe('CSRF protection without authentication', () => {
  const open = (allowOrigins: string[] = []) => createTestApp({ config: { authKind: 'none', allowOrigins } }).app

  it.each<[string, Record<string, string>]>([
    ['a client that is not a browser', {}],
    ['a page of this server', { 'Sec-Fetch-Site': 'same-origin', Origin: ORIGIN }],
    ['a typed address', { 'Sec-Fetch-Site': 'none' }],
  ])('admits a request from %s', async (_, headers) => {
    expect((await open().fetch(get('/agents', headers))).status).toBe(200)
    expect((await open().fetch(abort(headers))).status).toBe(202)
  })

  it.each<[string, Record<string, string>]>([
    ['a page of another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['a page of another host of the same site', { 'Sec-Fetch-Site': 'same-site' }],
    ['a page with an unknown Sec-Fetch-Site value', { 'Sec-Fetch-Site': 'else' }],
  ])('refuses reads and writes from %s', async (_, headers) => {
    expect(await refusalOf(await open().fetch(get('/agents', headers)))).toEqual(DENIED)
    expect(await refusalOf(await open().fetch(abort(headers)))).toEqual(DENIED)
  })

  it.each(['https://evil.example', 'null', 'http://127.0.0.1:9999'])(
    'refuses reads from the origin %s',
    async (Origin) => {
      expect(await refusalOf(await open().fetch(get('/agents', { Origin })))).toEqual(DENIED)
    },
  )

  it('admits an origin listed in allowOrigins, but not one that only * allows', async () => {
    const headers = { Origin: 'https://app.example', 'Sec-Fetch-Site': 'cross-site' }

    expect((await open(['https://app.example']).fetch(abort(headers))).status).toBe(202)
    expect(await refusalOf(await open(['*']).fetch(abort(headers)))).toEqual(DENIED)
  })

  it('does not restrict public operations', async () => {
    expect((await open().fetch(get('/health/live', { 'Sec-Fetch-Site': 'cross-site' }))).status).toBe(200)
  })

  it('refuses a request before the request has any effect', async () => {
    const { app, storage } = createTestApp({ config: { authKind: 'none' } })

    await app.fetch(post('/agents/echo/run', {}, { 'Sec-Fetch-Site': 'cross-site', 'Idempotency-Key': 'k' }))

    expect((await storage.events.head()).position).toBe(0)
  })
})

describe('CSRF protection with a bearer token', () => {
  it('is off, because browsers do not send bearer tokens on their own', async () => {
    const { app } = createTestApp()

    expect((await app.fetch(abort({ 'Sec-Fetch-Site': 'cross-site' }))).status).toBe(202)
  })
})

describe('CSRF protection with a cookie', () => {
  const principal = (browserSession: string) => ({ subject: 'alice', scopes: ['admin:*'], browserSession })

  function open(session = 'one', { config, deps }: AppOptions = {}) {
    const authenticate = async () => principal(session)
    return createTestApp({ config: { ...config }, deps: { ...deps, authenticate, cookieTags: () => ['tag'] } })
  }

  /** Fetches the CSRF cookie and value of this browser session. */
  async function valueFor(made: ReturnType<typeof open>) {
    const response = await made.app.fetch(get('/agents'))
    const cookie = response.headers.get('set-cookie') ?? ''
    return { cookie, value: /^perdure-csrf-tag=([^;]+);/.exec(cookie)?.[1] ?? '' }
  }

  const submit = (cookie: string, sent: string, headers: Record<string, string> = {}) =>
    abort({ Cookie: `perdure-csrf-tag=${cookie}`, 'X-CSRF-Token': sent, ...headers })

  it('sets the CSRF cookie on a read, and accepts a write with its value in cookie and header', async () => {
    const made = open()
    const { cookie, value } = await valueFor(made)

    expect(cookie).toMatch(/; Path=\/; SameSite=Strict$/)
    expect((await made.app.fetch(submit(value, value))).status).toBe(202)
    expect(
      (await made.app.fetch(get('/agents', { Cookie: `perdure-csrf-tag=${value}` }))).headers.has('set-cookie'),
    ).toBe(false)
  })

  it('requires cookie and header to be present and equal', async () => {
    const made = open()
    const { value } = await valueFor(made)
    const { value: other } = await valueFor(made)

    for (const request of [
      abort(),
      abort({ Cookie: `perdure-csrf-tag=${value}` }),
      abort({ 'X-CSRF-Token': value }),
      submit(value, other),
      submit(value, ''),
      submit(value, value, { Cookie: `perdure-csrf-tag=${value}; perdure-csrf-tag=${other}` }),
    ]) {
      expect(await refusalOf(await made.app.fetch(request))).toEqual(DENIED)
    }
  })

  it('rejects a value chosen by an attacker or issued to another browser session', async () => {
    const made = open('one')
    const { value: foreign } = await valueFor(open('two'))

    for (const value of ['x', 'x.y', '.', `${'0'.repeat(32)}.${'0'.repeat(64)}`, foreign]) {
      expect(await refusalOf(await made.app.fetch(submit(value, value))), value).toEqual(DENIED)
    }
  })

  it.each<[string, Record<string, string>]>([
    ['a request from another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['a request from another host of the same site', { 'Sec-Fetch-Site': 'same-site' }],
  ])('refuses %s even if cookie and header are valid', async (_, headers) => {
    const made = open()
    const { value } = await valueFor(made)

    expect(await refusalOf(await made.app.fetch(submit(value, value, headers)))).toEqual(DENIED)
  })

  it('binds the cookie to the host over TLS', async () => {
    const made = open('one', { config: { trustProxy: 1 } })
    const tls = { 'X-Forwarded-For': '203.0.113.9', 'X-Forwarded-Proto': 'https' }
    const env = { incoming: { socket: { remoteAddress: '10.0.0.1' } } }

    const read = await made.app.fetch(get('/agents', tls), env)
    const cookie = read.headers.get('set-cookie') ?? ''
    const value = /^__Host-perdure-csrf-tag=([^;]+); Path=\/; SameSite=Strict; Secure$/.exec(cookie)?.[1] ?? ''
    const change = { ...tls, Cookie: `__Host-perdure-csrf-tag=${value}`, 'X-CSRF-Token': value }

    expect((await made.app.fetch(abort(change), env)).status).toBe(202)
    const tossed = { ...tls, Cookie: `perdure-csrf-tag=${value}`, 'X-CSRF-Token': value }
    expect(await refusalOf(await made.app.fetch(abort(tossed), env))).toEqual(DENIED)
  })

  it('can be disabled', async () => {
    expect((await open('one', { config: { csrfEnabled: false } }).app.fetch(abort())).status).toBe(202)
  })
})

import { forgeJwt } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { APP, AUDIENCE, claimsOf, HMAC, jwtOf, KEYS, nowSeconds, RSA, startJwtServer } from './jwt-server.fixture.ts'
import { connect } from './web-socket-client.fixture.ts'

const own = (over: object, header: object = {}) =>
  forgeJwt({ header: { alg: 'EdDSA', ...header }, claims: claimsOf(over), key: KEYS.ed.privateKey })
const signedText = (claims: string, header: object = {}) =>
  forgeJwt({ header: { alg: 'EdDSA', ...header }, claims, key: KEYS.ed.privateKey })
const stranger = KEYS.stranger.privateKey
const [head = '', body = '', signature = ''] = jwtOf().split('.')
const [, otherBody = ''] = jwtOf({ sub: 'bob' }).split('.')

/** By the sections of RFC 8725, which lists the attacks on JWTs. */
const ATTACKS: readonly (readonly [section: string, attack: string, jwt: () => string])[] = [
  ['3.1', 'the algorithm none', () => forgeJwt({ header: { alg: 'none' }, claims: claimsOf() })],
  ['3.1', 'the algorithm nOnE', () => forgeJwt({ header: { alg: 'nOnE' }, claims: claimsOf() })],
  ['3.1', 'no algorithm', () => forgeJwt({ header: {}, claims: claimsOf(), key: KEYS.ed.privateKey })],
  [
    '3.1',
    'HMAC with the public RSA key as its secret',
    () => forgeJwt({ header: { alg: 'HS256' }, claims: claimsOf({ iss: RSA }), key: KEYS.rsaPem }),
  ],
  [
    '3.1',
    'an algorithm that only another issuer uses',
    () => forgeJwt({ header: { alg: 'RS256' }, claims: claimsOf(), key: KEYS.rsa.privateKey }),
  ],
  ['3.2', 'no signature', () => `${head}.${body}.`],
  ['3.2', 'the signature of another JWT', () => `${head}.${otherBody}.${signature}`],
  ['3.2', 'the key of a stranger', () => forgeJwt({ claims: claimsOf(), key: stranger })],
  ['3.3', 'five parts, as an encrypted JWT', () => `${head}.${body}.${signature}.${body}.${signature}`],
  [
    '3.7',
    'claims in UTF-16',
    () => `${head}.${Buffer.from(JSON.stringify(claimsOf()), 'utf16le').toString('base64url')}.${signature}`,
  ],
  ['3.7', 'claims after a byte order mark', () => signedText(`\ufeff${JSON.stringify(claimsOf())}`)],
  ['3.3', 'a JWT inside a JWT', () => signedText(jwtOf(), { cty: 'JWT' })],
  ['3.11', 'the type of a security event', () => own({}, { typ: 'secevent+jwt' })],
  ['3.8', 'no issuer', () => own({ iss: undefined })],
  ['3.8', 'an issuer that differs in a slash', () => own({ iss: `${APP}/` })],
  ['3.8', 'an unknown issuer', () => own({ iss: 'https://evil.test' })],
  [
    '3.8',
    'the name of one issuer with the key of another',
    () => forgeJwt({ header: { alg: 'HS256' }, claims: claimsOf({ iss: APP }), key: KEYS.secret }),
  ],
  [
    '3.8',
    'two issuers',
    () =>
      forgeJwt({
        header: { alg: 'HS256' },
        claims: JSON.stringify(claimsOf({ iss: HMAC })).replace('{', `{"iss":"${APP}",`),
        key: KEYS.secret,
      }),
  ],
  [
    '3.8',
    'two subjects',
    () => forgeJwt({ claims: JSON.stringify(claimsOf()).replace('{', '{"sub":"root",'), key: KEYS.ed.privateKey }),
  ],
  ['3.8', 'a subject with a line break', () => own({ sub: 'alice\nX: 1' })],
  ['3.9', 'an audience within a list', () => own({ aud: [[AUDIENCE]] })],
  ['3.9', 'a text of audiences', () => own({ aud: `billing ${AUDIENCE}` })],
  ['3.9', 'no audience', () => own({ aud: undefined })],
  ['3.9', 'another audience', () => own({ aud: 'billing' })],
  ['3.9', 'a list of other audiences', () => own({ aud: [`${AUDIENCE}-admin`, 'billing'] })],
  [
    '3.10',
    'the header jku',
    () => forgeJwt({ header: { alg: 'EdDSA', jku: 'https://evil.test/' }, claims: claimsOf(), key: stranger }),
  ],
  [
    '3.10',
    'the header jwk',
    () =>
      forgeJwt({
        header: { alg: 'EdDSA', jwk: KEYS.stranger.publicKey.export({ format: 'jwk' }) },
        claims: claimsOf(),
        key: stranger,
      }),
  ],
  ['3.10', 'the header x5u', () => own({}, { x5u: 'https://evil.test/' })],
  [
    '3.10',
    'a kid that is a path',
    () => forgeJwt({ header: { alg: 'EdDSA', kid: '../../dev/null' }, claims: claimsOf(), key: stranger }),
  ],
  ['3.10', 'a critical header that nobody knows', () => own({}, { crit: ['pay'], pay: true })],
  ['3.10', 'a kid that is a number', () => own({}, { kid: 1 })],
  ['3.10', 'the header b64 that nobody must understand', () => own({}, { b64: true })],
  ['3.10', 'an unencoded payload', () => own({}, { crit: ['b64'], b64: false })],
  ['2.8', 'no expiry', () => own({ exp: undefined })],
  ['2.8', 'an expiry in words', () => own({ exp: 'tomorrow' })],
  ['2.8', 'an expiry in quotes', () => own({ exp: `${nowSeconds() + 300}` })],
  [
    '2.8',
    'an expiry beyond every number',
    () => signedText(JSON.stringify(claimsOf({ exp: 0 })).replace(/0}$/, '1e999}')),
  ],
  ['2.8', 'a beginning in quotes', () => own({ nbf: `${nowSeconds()}` })],
  ['2.8', 'a time of issue in quotes', () => own({ iat: `${nowSeconds()}` })],
  ['2.8', 'a time of issue in the future', () => own({ iat: nowSeconds() + 60 })],
  ['2.8', 'a validity that begins later', () => own({ nbf: nowSeconds() + 60 })],
  ['2.8', 'an expiry in the past', () => own({ exp: nowSeconds() - 1 })],
  ['2.7', 'more text than a JWT may have', () => own({ pad: 'x'.repeat(8_000) })],
]

describe('an attack on a JWT', () => {
  it.each(ATTACKS)('of section %s is refused over HTTP and WebSocket: %s', async (_section, attack, jwtWith) => {
    const { call, url } = await startJwtServer()
    const jwt = jwtWith()
    const code = attack === 'an expiry in the past' ? 'auth-expired' : 'auth-invalid'

    for (const [path, init] of [
      ['/runs', {}],
      ['/runs/run_x/events', { headers: { accept: 'text/event-stream' } }],
      ['/session/ws-ticket', { body: {} }],
      ['/agents/echo/run', { body: { input: 'hi' } }],
    ] as const) {
      const response = await call(jwt, path, init)
      expect([path, response.status, await response.json()]).toMatchObject([path, 401, { error: code }])
      expect(response.headers.get('www-authenticate')).toContain('Bearer')
    }
    const socket = await connect(url, { headers: { authorization: `Bearer ${jwt}` } })
    expect((await socket.closed).code).toBe(4002)
  })

  it('locks out the address after ten failures, which a valid JWT still passes', async () => {
    const { call } = await startJwtServer()
    const forged = forgeJwt({ claims: claimsOf(), key: stranger })
    for (let attempt = 0; attempt < 10; attempt++) expect((await call(forged, '/runs')).status).toBe(401)

    const locked = await call(forged, '/runs')
    expect([locked.status, await locked.json()]).toMatchObject([429, { error: 'auth-locked-out' }])
    expect((await call(jwtOf(), '/runs')).status).toBe(200)
  })

  it('never shows the JWT or the reason for a wrong signature in the answer', async () => {
    const { call } = await startJwtServer()
    const forged = forgeJwt({ claims: claimsOf(), key: stranger })

    const text = await (await call(forged, '/runs')).text()

    expect(text).not.toContain(forged.split('.')[2])
  })

  it('is refused as a cookie, as a parameter and as a ticket too', async () => {
    const { server, url } = await startJwtServer({ config: { console: { enabled: true } } })
    const { token } = await server
      .client({ subject: 'ops', scopes: ['admin:*'] })
      .tokens.create({ name: 'console', scopes: ['runs:read'] })
    const signIn = await fetch(`${url}/console/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    })
    const [own = ''] = signIn.headers.getSetCookie()
    const statusWith = async (cookie: string) => (await fetch(`${url}/runs`, { headers: { cookie } })).status
    expect(await statusWith(own.split(';')[0] ?? '')).toBe(200)
    expect(await statusWith(`${own.split('=')[0]}=${jwtOf()}`)).toBe(401)

    expect((await fetch(`${url}/runs?access_token=${jwtOf()}`)).status).toBe(401)

    const socket = await connect(url, { ticket: 'x'.repeat(43) })
    expect((await socket.closed).code).toBe(4002)
  })
})

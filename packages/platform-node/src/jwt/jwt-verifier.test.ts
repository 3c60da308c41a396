import type { KeyObject } from 'node:crypto'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { CLAIMS, ed25519, forge, ISSUER, NOW, pemOf, RULES, rsa } from './jwt.fixture.ts'
import { createJwtVerifier, type JwtVerifierOptions } from './jwt-verifier.ts'

const cleanUps: (() => void)[] = []
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp()
})

const own = ed25519()
const other = ed25519()
const ownRsa = rsa()
const shortRsa = rsa(1_024)
const seconds = NOW / 1_000
const verifyOwn = createJwtVerifier().open(RULES, { bytes: pemOf(own.publicKey) })
const signed = (claims: object, header: object = { alg: 'EdDSA' }) =>
  forge({ header: { ...header }, claims: { ...CLAIMS, ...claims }, key: own.privateKey })

describe('createJwtVerifier', () => {
  it('returns the claims of a valid JWT', async () => {
    expect(await verifyOwn(signed({ email: 'a@b.c' }), NOW)).toEqual({
      kind: 'verified',
      claims: { ...CLAIMS, email: 'a@b.c' },
    })
  })

  it.each([
    ['without a signature', forge({ key: undefined })],
    ['with the algorithm none', forge({ header: { alg: 'none' } })],
    ['with the algorithm None', forge({ header: { alg: 'None' } })],
    ['of another key', forge({ key: other.privateKey })],
    [
      'with changed claims',
      `${signed({}).split('.')[0]}.${signed({ sub: 'bob' }).split('.').slice(1, 2)}.${signed({}).split('.')[2]}`,
    ],
    ['without exp', signed({ exp: undefined })],
    ['with an exp that is a text', signed({ exp: String(seconds + 300) })],
    ['of another issuer', signed({ iss: 'https://other.test' })],
    ['of an issuer that only begins alike', signed({ iss: `${ISSUER}.evil.test` })],
    ['without an audience', signed({ aud: undefined })],
    ['for another audience', signed({ aud: 'billing' })],
    ['for audiences that only contain the own one as a part', signed({ aud: ['perdure-admin'] })],
    ['that is valid only later', signed({ nbf: seconds + 6 })],
    ['with an unknown critical header', signed({}, { alg: 'EdDSA', crit: ['pay'], pay: 1 })],
    ['that claims to be unencoded', signed({}, { alg: 'EdDSA', crit: ['b64'], b64: false })],
    ['that is no JWT', 'a.b.c'],
    ['whose claims are no object', forge({ claims: '[]', key: own.privateKey })],
  ])('refuses a JWT %s', async (_, jwt) => {
    expect(await verifyOwn(jwt, NOW)).toMatchObject({ kind: 'invalid' })
  })

  it('tolerates the clock of the issuer by the configured seconds and not more', async () => {
    const kindAt = async (claims: object) => (await verifyOwn(signed(claims), NOW)).kind
    expect([await kindAt({ exp: seconds - 4 }), await kindAt({ exp: seconds - 5 })]).toEqual(['verified', 'expired'])
    expect([await kindAt({ nbf: seconds + 5 }), await kindAt({ nbf: seconds + 6 })]).toEqual(['verified', 'invalid'])
  })

  it('requires iat and limits its age when maxAge is set', async () => {
    const verify = createJwtVerifier().open({ ...RULES, maxAgeSeconds: 60 }, { bytes: pemOf(own.publicKey) })
    const kindOf = async (claims: object) => (await verify(signed(claims), NOW)).kind

    expect(await kindOf({ iat: seconds - 65 })).toBe('verified')
    expect(await kindOf({ iat: seconds - 66 })).toBe('expired')
    expect(await kindOf({ iat: undefined })).toBe('invalid')
    expect(await kindOf({ iat: seconds + 6 })).toBe('invalid')
  })

  it('checks the header typ when it is configured', async () => {
    const verify = createJwtVerifier().open({ ...RULES, typ: 'at+jwt' }, { bytes: pemOf(own.publicKey) })

    expect((await verify(signed({}, { alg: 'EdDSA', typ: 'at+jwt' }), NOW)).kind).toBe('verified')
    expect((await verify(signed({}, { alg: 'EdDSA', typ: 'JWT' }), NOW)).kind).toBe('invalid')
    expect((await verify(signed({}), NOW)).kind).toBe('invalid')
  })

  it('never uses a public key as an HMAC secret', async () => {
    const verify = createJwtVerifier().open({ ...RULES, algorithms: ['RS256'] }, { bytes: pemOf(ownRsa.publicKey) })
    const valid = forge({ header: { alg: 'RS256' }, key: ownRsa.privateKey })
    const confused = forge({ header: { alg: 'HS256' }, key: pemOf(ownRsa.publicKey) })

    expect((await verify(valid, NOW)).kind).toBe('verified')
    expect((await verify(confused, NOW)).kind).toBe('invalid')
  })

  it('uses a key only with the configured algorithms', async () => {
    const verify = createJwtVerifier().open({ ...RULES, algorithms: ['RS512'] }, { bytes: pemOf(ownRsa.publicKey) })

    expect((await verify(forge({ header: { alg: 'RS256' }, key: ownRsa.privateKey }), NOW)).kind).toBe('invalid')
  })

  it('ignores keys that the JWT brings or points to', async () => {
    const jwk = other.publicKey.export({ format: 'jwk' })
    for (const header of [{ jwk }, { jku: 'http://127.0.0.1:1/jwks' }, { x5u: 'http://127.0.0.1:1/' }]) {
      const jwt = forge({ header: { alg: 'EdDSA', ...header }, key: other.privateKey })
      expect((await verifyOwn(jwt, NOW)).kind).toBe('invalid')
    }
  })

  it.each([
    ['EdDSA', pemOf(ownRsa.publicKey), 'the key is of the type rsa, which EdDSA cannot use'],
    ['RS256', pemOf(shortRsa.publicKey), 'the RSA key has 1024 bits; at least 2048 are needed'],
    ['HS256', new Uint8Array(31), 'the secret has 31 bytes; HS256 needs at least 32'],
    ['HS512', new Uint8Array(32), 'the secret has 32 bytes; HS512 needs at least 64'],
    ['RS256', new TextEncoder().encode('secret'), 'the key is not a public key in PEM, a JWK or a JWK Set'],
    ['RS256', new TextEncoder().encode('{"keys":[]}'), 'the JWK Set has no keys'],
    [
      'EdDSA',
      new TextEncoder().encode(own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()),
      'the key is a private key; verification needs only the public key',
    ],
  ])('refuses to open an issuer with %s and an unfit key', (algorithm, bytes, message) => {
    expect(() => createJwtVerifier().open({ ...RULES, algorithms: [algorithm] }, { bytes })).toThrow(message)
  })

  it('accepts an HMAC secret, a JWK and a JWK Set', async () => {
    const secret = new Uint8Array(32).fill(3)
    const jwk = own.publicKey.export({ format: 'jwk' })
    const bytesOf = (json: object) => new TextEncoder().encode(JSON.stringify(json))
    const open = createJwtVerifier().open
    const set = {
      keys: [
        { ...jwk, kid: 'a' },
        { ...other.publicKey.export({ format: 'jwk' }), kid: 'b' },
      ],
    }

    const hmac = open({ ...RULES, algorithms: ['HS256'] }, { bytes: secret })
    expect((await hmac(forge({ header: { alg: 'HS256' }, key: secret }), NOW)).kind).toBe('verified')
    expect((await open(RULES, { bytes: bytesOf(jwk) })(signed({}), NOW)).kind).toBe('verified')
    const verify = open(RULES, { bytes: bytesOf(set) })
    expect((await verify(signed({}, { alg: 'EdDSA', kid: 'a' }), NOW)).kind).toBe('verified')
    expect((await verify(signed({}, { alg: 'EdDSA', kid: 'b' }), NOW)).kind).toBe('invalid')
    expect((await verify(signed({}, { alg: 'EdDSA', kid: "' OR 1=1 --" }), NOW)).kind).toBe('invalid')
  })
})

/** An issuer that publishes its keys. */
async function publish(answer: RequestListener, options: JwtVerifierOptions = {}) {
  let fetches = 0
  const server = createServer((request, response) => {
    fetches += 1
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanUps.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  let now = 0
  const verifier = createJwtVerifier({ monotonicMs: () => now, ...options })
  const verify = verifier.open({ ...RULES, algorithms: ['EdDSA', 'RS256'] }, { url: `http://127.0.0.1:${port}/jwks` })
  const advance = (ms: number) => {
    now += ms
  }
  return { verify: (jwt: string) => verify(jwt, NOW), fetches: () => fetches, advance }
}

const jwksOf = (keys: readonly (readonly [string, ReturnType<typeof ed25519>])[]) =>
  JSON.stringify({ keys: keys.map(([kid, { publicKey }]) => ({ ...publicKey.export({ format: 'jwk' }), kid })) })

const withKid = (kid: string, key = own) => forge({ header: { alg: 'EdDSA', kid }, key: key.privateKey })

describe('a published JWK Set', () => {
  it('is fetched with the first JWT and then cached', async () => {
    const { verify, fetches } = await publish((_, response) => response.end(jwksOf([['a', own]])))

    expect(fetches()).toBe(0)
    expect((await Promise.all([verify(withKid('a')), verify(withKid('a'))])).map(({ kind }) => kind)).toEqual([
      'verified',
      'verified',
    ])
    await verify(withKid('a'))
    expect(fetches()).toBe(1)
  })

  it('is fetched again for an unknown kid, once per cool-down', async () => {
    const keys: [string, ReturnType<typeof ed25519>][] = [['a', own]]
    const { verify, fetches } = await publish((_, response) => response.end(jwksOf(keys)), { coolDownMs: 400 })
    await verify(withKid('a'))
    keys.push(['b', other])

    for (let attempt = 0; attempt < 20; attempt++) {
      expect((await verify(withKid(`guess-${attempt}`))).kind).toBe('invalid')
    }
    expect(fetches()).toBe(1)
    await expect.poll(async () => (await verify(withKid('b', other))).kind).toBe('verified')
    expect(fetches()).toBe(2)
  })

  it('no longer verifies with a key that the issuer has removed', async () => {
    let keys: [string, ReturnType<typeof ed25519>][] = [['a', own]]
    const { verify } = await publish((_, response) => response.end(jwksOf(keys)), { maxAgeMs: 50 })
    expect((await verify(withKid('a'))).kind).toBe('verified')
    keys = [['b', other]]

    await expect.poll(async () => (await verify(withKid('a'))).kind).toBe('invalid')
  })

  const endless = (response: ServerResponse) => {
    response.write('{"keys":[')
    const more = () => response.writable && response.write(`${'0,'.repeat(5_000)}`, () => setImmediate(more))
    more()
  }

  const redirect: RequestListener = ({ url }, response) => {
    if (url === '/moved') response.end(jwksOf([['a', own]]))
    else response.writeHead(302, { location: '/moved' }).end()
  }

  it.each<[string, RequestListener]>([
    ['hangs', () => undefined],
    ['sends its headers and then hangs', (_, response) => response.write('{"keys"')],
    ['answers with an error', (_, response) => response.writeHead(500).end(jwksOf([['a', own]]))],
    ['redirects', redirect],
    ['sends something else', (_, response) => response.end('<html>')],
    ['sends JSON that is not a JWK Set', (_, response) => response.end('{"keys":{}}')],
    ['never stops sending', (_, response) => endless(response)],
    ['disconnects', (request) => request.destroy()],
  ])('fails closed when its server %s', async (_, answer) => {
    const { verify, fetches, advance } = await publish(answer, { timeoutMs: 300, failureCoolDownMs: 1_000 })

    const askedAt = performance.now()
    expect(await verify(withKid('a'))).toMatchObject({ kind: 'keys-unavailable' })
    expect(performance.now() - askedAt).toBeLessThan(10_000)
    const startedAt = performance.now()
    for (let attempt = 0; attempt < 10; attempt++) await verify(withKid('a'))
    expect(performance.now() - startedAt).toBeLessThan(150)
    expect(fetches()).toBe(1)
    advance(1_001)
    await verify(withKid('a'))
    expect(fetches()).toBe(2)
  })

  it('is refused when it is larger than the limit', async () => {
    const padded = JSON.stringify({ ...JSON.parse(jwksOf([['a', own]])), pad: 'x'.repeat(262_144) })
    const { verify } = await publish((_, response) => response.end(padded))

    expect(await verify(withKid('a'))).toMatchObject({
      kind: 'keys-unavailable',
      reason: expect.stringContaining('larger'),
    })
  })

  it.each([
    ['an HMAC key', { kty: 'oct', k: Buffer.alloc(32).toString('base64url'), alg: 'HS256' }, 'HS256'],
    ['a private key', own.privateKey.export({ format: 'jwk' }), 'EdDSA'],
    ['a short RSA key', shortRsa.publicKey.export({ format: 'jwk' }), 'RS256'],
    ['a key that is null', null, 'EdDSA'],
    ['a key for encryption', { ...own.publicKey.export({ format: 'jwk' }), use: 'enc' }, 'EdDSA'],
    ['a key of another algorithm', { ...own.publicKey.export({ format: 'jwk' }), alg: 'RS256' }, 'EdDSA'],
  ])('does not verify with %s', async (_, jwk, alg) => {
    const { verify } = await publish((_request, response) =>
      response.end(JSON.stringify({ keys: [{ ...jwk, kid: 'a' }] })),
    )
    const keys: Readonly<Record<string, Uint8Array | KeyObject>> = {
      HS256: new Uint8Array(32),
      RS256: shortRsa.privateKey,
    }
    const jwt = forge({ header: { alg, kid: 'a' }, key: keys[alg] ?? own.privateKey })

    expect((await verify(jwt)).kind).toBe('invalid')
  })
})

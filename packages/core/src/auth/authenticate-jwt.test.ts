import type { JwtVerdict } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { isJwtForm } from './authenticate-jwt.ts'
import { CLAIMS, NOW_SECONDS, setUpJwt, unsigned } from './jwt.fixture.ts'

const NOT_UTF8 = Buffer.from(JSON.stringify({ ...CLAIMS, sub: 'alic\u00e9' }), 'latin1').toString('base64url')
const refusal = (code: string) => ({ code })

describe('createAuthenticateJwt', () => {
  it('turns a JWT into a principal whose subject names the issuer', async () => {
    const { authenticate } = setUpJwt()

    expect(await authenticate(unsigned())).toEqual({
      subject: 'jwt:a:alice',
      scopes: ['agents:read'],
      tokenId: `jwt_${NOW_SECONDS * 1_000}_${(NOW_SECONDS + 305) * 1_000}_a:alice`,
    })
  })

  it('gives users of the same name at different issuers different subjects', async () => {
    const { authenticate } = setUpJwt({}, { id: 'b', issuer: 'https://b.test' })

    const [a, b] = await Promise.all([
      authenticate(unsigned()),
      authenticate(unsigned({ ...CLAIMS, iss: 'https://b.test' })),
    ])

    expect([a.subject, b.subject]).toEqual(['jwt:a:alice', 'jwt:b:alice'])
  })

  it('asks only the verifier of the issuer that the JWT names', async () => {
    const asked: string[] = []
    const spy = (name: string) => async (): Promise<JwtVerdict> => {
      asked.push(name)
      return { kind: 'invalid', reason: 'signature' }
    }
    const { authenticate } = setUpJwt({ verify: spy('a') }, { id: 'b', issuer: 'https://b.test', verify: spy('b') })

    await expect(authenticate(unsigned({ ...CLAIMS, iss: 'https://b.test' }))).rejects.toMatchObject(
      refusal('auth-invalid'),
    )

    expect(asked).toEqual(['b'])
  })

  it.each([
    ['of an unknown issuer', unsigned({ ...CLAIMS, iss: 'https://evil.test' })],
    ['without an issuer', unsigned({ ...CLAIMS, iss: undefined })],
    ['whose issuer is a list', unsigned({ ...CLAIMS, iss: ['https://a.test'] })],
    ['whose issuer is a name of Object.prototype', unsigned({ ...CLAIMS, iss: 'constructor' })],
    ['with the algorithm none', unsigned(CLAIMS, { alg: 'none' })],
    ['with an algorithm of another issuer', unsigned(CLAIMS, { alg: 'HS256' })],
    ['without an algorithm', unsigned(CLAIMS, {})],
    ['with the header jku', unsigned(CLAIMS, { alg: 'EdDSA', jku: 'https://evil.test/jwks' })],
    ['with the header jwk', unsigned(CLAIMS, { alg: 'EdDSA', jwk: { kty: 'OKP' } })],
    ['with the header x5u', unsigned(CLAIMS, { alg: 'EdDSA', x5u: 'https://evil.test/cert' })],
    ['with the header x5c', unsigned(CLAIMS, { alg: 'EdDSA', x5c: ['MII'] })],
    ['with the header crit', unsigned(CLAIMS, { alg: 'EdDSA', crit: ['exp'] })],
    ['with the header b64', unsigned(CLAIMS, { alg: 'EdDSA', b64: true })],
    ['with the header enc', unsigned(CLAIMS, { alg: 'EdDSA', enc: 'A256GCM' })],
    ['whose claims follow a byte order mark', unsigned(`\ufeff${JSON.stringify(CLAIMS)}`)],
    ['that is compressed', unsigned(CLAIMS, { alg: 'EdDSA', zip: 'DEF' })],
    ['with a kid that is an object', unsigned(CLAIMS, { alg: 'EdDSA', kid: { $ne: 1 } })],
    ['with a huge kid', unsigned(CLAIMS, { alg: 'EdDSA', kid: 'k'.repeat(257) })],
    ['for a logout', unsigned(CLAIMS, { alg: 'EdDSA', typ: 'application/LOGOUT+JWT' })],
    ['for a security event', unsigned(CLAIMS, { alg: 'EdDSA', typ: 'secevent+jwt' })],
    ['for the proof of a key', unsigned(CLAIMS, { alg: 'EdDSA', typ: 'dpop+jwt' })],
    ['with a type that is a number', unsigned(CLAIMS, { alg: 'EdDSA', typ: 7 })],
    ['with two subjects', unsigned(JSON.stringify(CLAIMS).replace('{', '{"sub":"root",'))],
    ['with two algorithms', unsigned(CLAIMS, '{"alg":"none","alg":"EdDSA"}')],
    ['with the member __proto__', unsigned('{"iss":"https://a.test","__proto__":{"sub":"root"}}')],
    ['whose header is no JSON', unsigned(CLAIMS, 'x')],
    ['whose claims are a list', unsigned('[]')],
    ['whose claims are null', unsigned('null')],
    ['whose header is null', unsigned(CLAIMS, 'null')],
    ['whose claims are not UTF-8', unsigned().replace(/\.[^.]+\./, `.${NOT_UTF8}.`)],
    ['that is nested too deeply', unsigned(`{"iss":"https://a.test","x":${'['.repeat(80)}${']'.repeat(80)}}`)],
    ['that is huge', unsigned({ ...CLAIMS, pad: 'x'.repeat(8_192) })],
  ])('refuses a JWT %s without verifying it', async (_, jwt) => {
    const { authenticate, verifications } = setUpJwt()

    await expect(authenticate(jwt)).rejects.toMatchObject(refusal('auth-invalid'))

    expect(verifications()).toBe(0)
  })

  it.each([
    ['JWT', undefined],
    ['at+jwt', undefined],
    ['application/okta-internal-at+jwt', undefined],
    ['secevent+jwt', 'secevent+jwt'],
  ])('accepts the typ %s if the configured one is %s', async (typ, configured) => {
    const { authenticate } = setUpJwt({ typ: configured })

    await expect(authenticate(unsigned(CLAIMS, { alg: 'EdDSA', typ }))).resolves.toBeDefined()
  })

  it.each([
    ['no sub', { sub: undefined }],
    ['an empty sub', { sub: '' }],
    ['a sub that is a number', { sub: 7 }],
    ['a sub with a space', { sub: 'alice smith' }],
    ['a sub with a line break', { sub: 'alice\nroot' }],
    ['a sub that is too long', { sub: 'a'.repeat(123) }],
  ])('refuses a verified JWT with %s', async (_, over) => {
    const { authenticate } = setUpJwt()

    await expect(authenticate(unsigned({ ...CLAIMS, ...over }))).rejects.toMatchObject(refusal('auth-invalid'))
  })

  it('notes the claims that the configuration lets through, and no others', async () => {
    const { authenticate } = setUpJwt({ claims: ['plan', 'name'] })
    const { caller } = await authenticate(unsigned({ ...CLAIMS, plan: 'pro', name: 'Alice', email: 'a@b.test' }))

    expect(JSON.parse(caller ?? '')).toEqual({ name: 'Alice', claims: { plan: 'pro', name: 'Alice' } })
    expect((await authenticate(unsigned())).caller).toBeUndefined()
  })

  it('refuses a JWT with more in these claims than a run can store', async () => {
    const { authenticate } = setUpJwt({ claims: ['groups'] })
    const groups = (length: number) => unsigned({ ...CLAIMS, groups: 'g'.repeat(length) })

    await expect(authenticate(groups(4_070))).resolves.toBeDefined()
    await expect(authenticate(groups(4_097))).rejects.toMatchObject({
      code: 'auth-invalid',
      message: 'the claims groups in the JWT of the issuer a have more than 4096 bytes',
    })
  })

  it.each<[JwtVerdict, string]>([
    [{ kind: 'invalid', reason: 'signature' }, 'auth-invalid'],
    [{ kind: 'expired' }, 'auth-expired'],
    [{ kind: 'keys-unavailable', reason: 'timeout' }, 'auth-keys-unavailable'],
  ])('answers the verdict %j with %s, and remembers nothing', async (verdict, code) => {
    const { authenticate, verifications } = setUpJwt({ verify: async () => verdict })

    for (const _ of [1, 2]) await expect(authenticate(unsigned())).rejects.toMatchObject(refusal(code))

    expect(verifications()).toBe(2)
  })

  it('logs an issuer whose keys are unavailable once, and again after it has worked', async () => {
    let verdict: JwtVerdict = { kind: 'keys-unavailable', reason: 'timeout' }
    const { authenticate, errors } = setUpJwt({ verify: async () => verdict })
    const attempt = (sub: string) => authenticate(unsigned({ ...CLAIMS, sub })).catch(() => undefined)

    for (const sub of ['a', 'b', 'c']) await attempt(sub)
    expect(errors).toHaveLength(1)
    verdict = { kind: 'verified', claims: CLAIMS }
    await attempt('d')
    verdict = { kind: 'keys-unavailable', reason: 'timeout' }
    await attempt('e')
    expect(errors).toHaveLength(2)
  })

  it('verifies a JWT once and refuses it from its end on', async () => {
    const { authenticate, verifications, clock } = setUpJwt()
    for (const _ of [1, 2, 3]) await authenticate(unsigned())
    expect(verifications()).toBe(1)

    clock.advance(304_999)
    await expect(authenticate(unsigned())).resolves.toBeDefined()
    clock.advance(1)
    await expect(authenticate(unsigned())).rejects.toMatchObject(refusal('auth-expired'))
  })

  it('verifies a JWT again after ten minutes, because its key may have been withdrawn', async () => {
    let verdict: JwtVerdict = { kind: 'verified', claims: { ...CLAIMS, exp: NOW_SECONDS + 86_400 } }
    const { authenticate, verifications, clock } = setUpJwt({ verify: async () => verdict })
    await authenticate(unsigned())
    verdict = { kind: 'invalid', reason: 'no applicable key' }

    clock.advance(599_999)
    await expect(authenticate(unsigned())).resolves.toBeDefined()
    clock.advance(1)
    for (const _ of [1, 2]) await expect(authenticate(unsigned())).rejects.toMatchObject(refusal('auth-invalid'))
    expect(verifications()).toBe(3)
  })

  it('ends a JWT at its maximum age if that comes before exp', async () => {
    const { authenticate, clock } = setUpJwt({ maxAgeSeconds: 60 })
    await authenticate(unsigned())

    clock.advance(65_000)

    await expect(authenticate(unsigned())).rejects.toMatchObject(refusal('auth-expired'))
  })

  it('refuses a remembered JWT once its subject is revoked, and accepts one that was issued later', async () => {
    const { authenticate, unitOfWork, clock } = setUpJwt()
    await authenticate(unsigned())
    const [issuedUntil, revokedAt] = [clock.now(), clock.now()]
    const revocation = { subject: 'jwt:a:alice', issuedUntil, revokedAt, revokedBy: 'ops' }
    await unitOfWork.commit([{ type: 'subject.revoke', revocation }])

    await expect(authenticate(unsigned())).rejects.toMatchObject(refusal('auth-revoked'))
    await expect(authenticate(unsigned({ ...CLAIMS, iat: undefined }))).rejects.toMatchObject(refusal('auth-revoked'))
    await expect(authenticate(unsigned({ ...CLAIMS, sub: 'bob' }))).resolves.toBeDefined()
    clock.advance(1_000)
    await expect(authenticate(unsigned({ ...CLAIMS, iat: NOW_SECONDS + 1 }))).resolves.toBeDefined()
    const undated = unsigned({ ...CLAIMS, iat: undefined, jti: 'later' })
    await expect(authenticate(undated)).rejects.toMatchObject(refusal('auth-revoked'))
  })

  it('refuses a JWT from the future, which no revocation would reach', async () => {
    const { authenticate } = setUpJwt()

    await expect(authenticate(unsigned({ ...CLAIMS, iat: NOW_SECONDS + 5 }))).resolves.toBeDefined()
    await expect(authenticate(unsigned({ ...CLAIMS, iat: NOW_SECONDS + 6 }))).rejects.toMatchObject(
      refusal('auth-invalid'),
    )
  })
})

describe('the scopes of a JWT', () => {
  const maxScopes = ['agents:invoke', 'sessions:read:own']
  const scopesFor = async (scopes: never, claim: unknown) => {
    const { authenticate } = setUpJwt({ scopes, maxScopes })
    return (await authenticate(unsigned({ ...CLAIMS, scope: claim }))).scopes
  }

  it.each([
    ['a text', 'agents:invoke:support sessions:read:own', ['agents:invoke:support', 'sessions:read:own']],
    ['a list', ['agents:invoke', 'agents:invoke'], ['agents:invoke']],
    ['unknown scopes', 'openid profile agents:fly agents:invoke', ['agents:invoke']],
    ['more than the maximum', 'admin:* agents:* sessions:read agents:invoke', ['agents:invoke']],
    ['a claim that is missing', undefined, []],
    ['a claim of another type', { 0: 'agents:invoke' }, []],
    ['malformed scopes', ['agents:invoke:a b', 'agents:invoke:'], []],
    ['elements of other types', ['agents:invoke', 7, null], ['agents:invoke']],
  ])('come from a claim: %s', async (_, claim, scopes) => {
    expect(await scopesFor({ claim: 'scope' } as never, claim)).toEqual(scopes)
  })

  it('come from a function within the same maximum', async () => {
    expect(await scopesFor((() => ['admin:*', 'agents:invoke:a']) as never, undefined)).toEqual(['agents:invoke:a'])
  })

  it('exist, even if the maximum has a wildcard that covers others', async () => {
    const { authenticate } = setUpJwt({ scopes: { claim: 'scope' }, maxScopes: ['agents:*'] })
    const { scopes } = await authenticate(unsigned({ ...CLAIMS, scope: 'agents:fly agents:read' }))

    expect(scopes).toEqual(['agents:read'])
  })

  it('are at most 64', async () => {
    const many = Array.from({ length: 100 }, (_, index) => `agents:invoke:a${index}`)
    expect(await scopesFor((() => many) as never, undefined)).toHaveLength(64)
  })

  it('do not exist if a function throws: the JWT is refused', async () => {
    const { authenticate, errors } = setUpJwt({
      scopes: () => {
        throw new Error('no roles')
      },
    })

    await expect(authenticate(unsigned())).rejects.toMatchObject(refusal('auth-invalid'))
    expect(errors).toHaveLength(1)
  })
})

describe('isJwtForm', () => {
  it.each([
    [unsigned(), true],
    ['a.b.', true],
    ['perdure_live_v1_abc', false],
    ['a.b', false],
    ['a.b.c.d.e', false],
    ['a.b.c d', false],
  ])('tells whether %s is a JWT', (text, expected) => {
    expect(isJwtForm(text)).toBe(expected)
  })
})

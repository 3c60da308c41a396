import { generateKeyPairSync } from 'node:crypto'
import { createJwtVerifier } from '@perdure/platform-node'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../config.ts'
import { createJwtIssuers } from './jwt-issuers.ts'

const ISSUER = {
  id: 'app',
  issuer: 'https://issuer.test',
  audience: 'perdure',
  keys: { jwksUrl: 'https://issuer.test/jwks' },
  algorithms: ['EdDSA'],
  scopes: ['agents:invoke'],
}

const parse = (...jwt: readonly object[]) => parseConfig({ auth: { kind: 'token', pepperRef: 'env:PEPPER', jwt } })
const messageOf = (...jwt: readonly object[]): string => {
  try {
    parse(...jwt)
  } catch (error) {
    return String((error as Error).message)
  }
  return 'valid'
}

describe('auth.jwt', () => {
  it('fills in the defaults', () => {
    expect(parse(ISSUER).auth.jwt).toEqual([{ ...ISSUER, subject: 'sub', claims: [], clockTolerance: 5 }])
  })

  it.each<[object, string]>([
    [{ id: 'App' }, 'auth.jwt.0.id: must be 1 to 32'],
    [{ id: 'a:b' }, 'auth.jwt.0.id: must be'],
    [{ issuer: '' }, 'auth.jwt.0.issuer: must be'],
    [{ audience: undefined }, 'auth.jwt.0.audience'],
    [{ audience: [] }, 'auth.jwt.0.audience: must be a list of at least one'],
    [{ keys: {} }, 'auth.jwt.0.keys: must be either { secretRef } or { jwksUrl }'],
    [{ keys: { jwksUrl: 'http://issuer.test/jwks' } }, 'auth.jwt.0.keys.jwksUrl: must be an https: URL'],
    [{ keys: { jwksUrl: 'http://localhost.evil.test/jwks' } }, 'auth.jwt.0.keys.jwksUrl: must be an https: URL'],
    [{ keys: { jwksUrl: 'http://127.0.0.1@evil.test/jwks' } }, 'auth.jwt.0.keys.jwksUrl: must be an https: URL'],
    [{ keys: { jwksUrl: 'https://u:p@issuer.test/jwks' } }, 'auth.jwt.0.keys.jwksUrl: must be an https: URL'],
    [{ keys: { secretRef: 'plain' } }, 'auth.jwt.0.keys.secretRef: must be a secret reference'],
    [{ algorithms: [] }, 'auth.jwt.0.algorithms: must be a list of at least one'],
    [{ algorithms: ['none'] }, 'auth.jwt.0.algorithms.0: must be one of HS256'],
    [{ algorithms: ['RS256', 'HS256'] }, 'auth.jwt.0.algorithms: must be either only HS'],
    [{ algorithms: ['HS256'] }, 'auth.jwt.0.keys: must be { secretRef } with an HS'],
    [{ scopes: ['agents:fly'] }, 'auth.jwt.0.scopes.0: must be a scope'],
    [{ scopes: { claim: 'scope' } }, 'auth.jwt.0.maxScopes: must be set'],
    [{ scopes: () => [] }, 'auth.jwt.0.maxScopes: must be set'],
    [{ maxScopes: ['everything'] }, 'auth.jwt.0.maxScopes.0: must be a scope'],
    [{ clockTolerance: 61 }, 'auth.jwt.0.clockTolerance: must be at most 60 seconds'],
    [{ maxAge: 0 }, 'auth.jwt.0.maxAge'],
    [{ subject: 'email' }, "auth.jwt.0.subject: must be 'sub' or a function"],
    [{ audiance: 'x' }, 'auth.jwt.0.audiance: unknown field'],
  ])('refuses %j with a message that names the member', (over, message) => {
    expect(messageOf({ ...ISSUER, ...over })).toContain(message)
  })

  it.each([
    'https://a.test',
    'https://a.test:8443/x?y=1',
    'http://localhost:9/jwks',
    'http://[::1]/k',
    'http://127.0.0.2/',
  ])('accepts the URL %s', (jwksUrl) => {
    expect(messageOf({ ...ISSUER, keys: { jwksUrl } })).toBe('valid')
  })

  it('refuses two issuers with the same id or the same issuer', () => {
    expect(messageOf(ISSUER, { ...ISSUER, issuer: 'https://b.test' })).toContain(
      'auth.jwt: must be issuers with different ids',
    )
    expect(messageOf(ISSUER, { ...ISSUER, id: 'b' })).toContain(
      'auth.jwt: must be issuers with different values of issuer',
    )
  })

  it('is refused with auth.kind none, where it would have no effect', () => {
    const config = parseConfig({ auth: { kind: 'none', jwt: [ISSUER] } })

    expect(() => createJwtIssuers(config, [{ url: 'https://issuer.test/jwks' }], createJwtVerifier())).toThrow(
      'auth.jwt: has no effect with auth.kind none',
    )
  })

  it('names the member of a key that does not fit its algorithms', () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    const bytes = new TextEncoder().encode(publicKey.export({ type: 'spki', format: 'pem' }).toString())
    const config = parse({ ...ISSUER, keys: { secretRef: 'env:KEY' } })

    expect(() => createJwtIssuers(config, [{ bytes }], createJwtVerifier())).toThrow(
      'auth.jwt.0.keys: the key is of the type rsa, which EdDSA cannot use',
    )
  })
})

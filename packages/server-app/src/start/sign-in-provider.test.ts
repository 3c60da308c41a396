import { describe, expect, it } from 'vitest'
import { parseConfig } from '../config.ts'
import { createSignInProvider } from './sign-in-provider.ts'

const OIDC = {
  ...{ issuer: 'https://login.test', clientId: 'perdure', roles: { ops: ['runs:read'] } },
  redirectUrl: 'https://perdure.test/console/callback',
}
const open = (oidc: object, auth: object = {}, enabled = true) =>
  createSignInProvider(parseConfig({ auth, console: { enabled, oidc } }), undefined)

describe('createSignInProvider', () => {
  it('opens a provider that is described completely, if there is a console', async () => {
    expect(await open(OIDC)).toBeDefined()
    expect(await open(OIDC, {}, false)).toBeUndefined()
    expect(await open({})).toBeUndefined()
  })

  it.each([
    ['clientId', { ...OIDC, clientId: undefined }],
    ['redirectUrl', { ...OIDC, redirectUrl: undefined }],
    ['roles', { ...OIDC, roles: {} }],
    ['issuer', { ...OIDC, issuer: undefined }],
    ['issuer', { clientSecretRef: 'env:X' }],
  ])('names %s when it is missing', async (field, oidc) => {
    await expect(open(oidc)).rejects.toThrow(`console.oidc.${field}: missing`)
  })

  it('refuses a provider for a server that lets everybody in', async () => {
    await expect(open(OIDC, { kind: 'none' })).rejects.toThrow('console.oidc.issuer: has no effect with auth.kind none')
  })

  it.each([
    ['issuer', 'http://login.test', 'must be an https: URL'],
    ['issuer', 'https://user@login.test', 'must be an https: URL'],
    ['redirectUrl', 'https://perdure.test/console/', 'that ends with /console/callback'],
    ['redirectUrl', 'http://perdure.test/console/callback', 'must be an https: or loopback URL'],
    ['redirectUrl', 'https://evil.test/?to=/console/callback', 'must be an https: or loopback URL'],
    ['algorithm', 'HS256', 'RS256'],
    ['algorithm', 'none', 'RS256'],
    ['sessionSeconds', 43_201, 'must be at most 43200 seconds'],
    ['roles', { ops: ['everything'] }, 'must be a scope of the scopes reference'],
    ['roles', { ops: [] }, 'must be a list of at least one scope'],
    ['clientSecretRef', 'plain-secret', 'must be a secret reference'],
  ])('refuses %s = %j', (field, value, message) => {
    expect(() => parseConfig({ console: { oidc: { ...OIDC, [field]: value } } })).toThrow(message)
  })
})

import { parseConfig } from '@perdure/server-app'
import { expect, it } from 'vitest'
import { checkIssuers, checkProvider, providerUrls } from './check-issuers.ts'

const issuer = { audience: 'perdure', algorithms: ['EdDSA'], scopes: [] }
const configWith = (...jwt: readonly object[]) => parseConfig({ auth: { jwt } })

it('lists issuers, and the URLs to which the server connects for their keys', () => {
  const config = configWith(
    { ...issuer, id: 'app', issuer: 'https://app.test', keys: { jwksUrl: 'https://app.test/jwks' } },
    { ...issuer, id: 'own', issuer: 'own', keys: { secretRef: 'env:KEY' } },
  )

  expect(checkIssuers(config).map(({ message }) => message)).toEqual([
    'accepts JWTs of app (https://app.test), own (own); outbound: https://app.test/jwks',
  ])
})

it('reports nothing without issuers', () => {
  expect(checkIssuers(configWith())).toEqual([])
})

it('lists the provider of the console', () => {
  const oidc = {
    ...{ issuer: 'https://login.test', clientId: 'perdure', redirectUrl: 'https://app.test/console/callback' },
    roles: { ops: ['runs:read'], owners: ['admin:*'] },
  }
  const config = parseConfig({ console: { oidc } })

  expect(checkProvider(config).map(({ message }) => message)).toEqual([
    'users of https://login.test sign in to the console with the roles ops, owners (claim roles); outbound: https://login.test',
  ])
  expect(providerUrls(config)).toEqual(['https://login.test'])
  expect(checkProvider(configWith())).toEqual([])
})

import type { ServerConfig } from '@perdure/protocol'
import { type Finding, ok } from './finding.ts'

/** The URLs from which the server fetches the keys of issuers. */
export const keySetUrls = ({ auth }: Pick<ServerConfig, 'auth'>): readonly string[] =>
  auth.jwt.flatMap(({ keys }) => ('jwksUrl' in keys ? [keys.jwksUrl] : []))

/** The identity provider of the console, to which the server connects when a user signs in. */
export const providerUrls = ({ console: { oidc } }: Pick<ServerConfig, 'console'>): readonly string[] =>
  oidc.issuer === undefined ? [] : [oidc.issuer]

/** Lists who signs in to the console with a provider. Connects to nothing. */
export function checkProvider(config: ServerConfig): readonly Finding[] {
  const { claim, roles = {} } = config.console.oidc
  return providerUrls(config).map((url) =>
    ok(
      'console',
      `users of ${url} sign in to the console with the roles ${Object.keys(roles).join(', ')} (claim ${claim}); outbound: ${url}`,
    ),
  )
}

/** Lists whose JWTs the server accepts, and where it connects for their keys. Connects to nothing. */
export function checkIssuers(config: ServerConfig): readonly Finding[] {
  const { jwt } = config.auth
  if (jwt.length === 0) return []
  const urls = keySetUrls(config)
  const outbound = urls.length === 0 ? 'no outbound connections' : `outbound: ${urls.join(', ')}`
  return [ok('jwt', `accepts JWTs of ${jwt.map(({ id, issuer }) => `${id} (${issuer})`).join(', ')}; ${outbound}`)]
}

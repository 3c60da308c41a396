import { openSignInProvider } from '@perdure/platform-node'
import { type SignInProvider, StartError } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'

/**
 * The provider with which users sign in to the console; `undefined` if none is configured, or the server has no console.
 * Opens no connection.
 *
 * @throws StartError `config-invalid`, `oidc-peer-missing`
 */
export async function createSignInProvider(
  { auth, console: { enabled, oidc } }: ServerConfig,
  clientSecret: string | undefined,
): Promise<SignInProvider | undefined> {
  const { issuer, clientId, redirectUrl, roles } = oidc
  const given = {
    clientId,
    clientSecretRef: oidc.clientSecretRef,
    redirectUrl,
    roles: Object.keys(roles ?? {}).length === 0 ? undefined : roles,
  }
  const isMissing = ([, value]: readonly [string, unknown]) => value === undefined
  if (issuer === undefined) {
    const [first] = Object.entries(given).filter((entry) => !isMissing(entry))
    if (first === undefined) return undefined
    throw invalid(`console.oidc.issuer: missing, but console.oidc.${first[0]} is set`, 'set it, or remove console.oidc')
  }
  if (auth.kind === 'none') {
    throw invalid(
      'console.oidc.issuer: has no effect with auth.kind none, which accepts every request',
      'set auth.kind to token, or remove console.oidc',
    )
  }
  const { clientSecretRef: _, ...required } = given
  const [missing] = Object.entries(required).filter(isMissing)
  if (clientId === undefined || redirectUrl === undefined || missing !== undefined) {
    throw invalid(
      `console.oidc.${missing?.[0]}: missing, but console.oidc.issuer is set`,
      'set it, or remove console.oidc',
    )
  }
  if (!enabled) return undefined
  return openSignInProvider({ ...oidc, issuer, clientId, clientSecret, redirectUrl })
}

const invalid = (message: string, hint: string) => new StartError('config-invalid', { message, hint })

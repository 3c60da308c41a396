import type { JwtIssuer } from '@perdure/core'
import type { JwtVerifier, SignInProvider } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import { createJwtIssuers } from './jwt-issuers.ts'
import type { Secrets } from './pre-bind.ts'
import { createSignInProvider } from './sign-in-provider.ts'

/** Other systems that tell the server who its users are. */
export interface Identities {
  readonly jwtIssuers?: readonly JwtIssuer[]
  /** Missing if users sign in to the console only with tokens and codes. */
  readonly signInProvider?: SignInProvider | undefined
}

/** Opens no connection. @throws StartError `config-invalid`, `oidc-peer-missing` */
export const openIdentities = async (
  config: ServerConfig,
  { jwtKeys, clientSecret }: Pick<Secrets, 'jwtKeys' | 'clientSecret'>,
  jwtVerifier: JwtVerifier,
): Promise<Identities> => ({
  jwtIssuers: createJwtIssuers(config, jwtKeys, jwtVerifier),
  signInProvider: await createSignInProvider(config, clientSecret),
})

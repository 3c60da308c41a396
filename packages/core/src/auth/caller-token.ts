import { type Clock, type EpochMs, perdureError, type TokenRecord, type TokenStore } from '@perdure/ports'
import { escalationDenied } from './attenuation.ts'
import { isJwtPrincipal } from './jwt-credential.ts'
import type { Principal } from './principal.ts'

export interface CallerTokenDeps {
  readonly tokens: Pick<TokenStore, 'find'>
  readonly clock: Clock
}

export interface CallerTokens {
  /** The token that what the caller creates belongs to: for a session of the console, the token that signed in. */
  readonly creator: TokenRecord | undefined
  /** The session of the console that sent the request, if a session did. */
  readonly session: TokenRecord | undefined
  /** The tokens that a token of the caller may not outlive. */
  readonly limiting: readonly (TokenRecord | undefined)[]
}

/** So long after a sign-in, its session may create tokens that outlive the session. */
const RECENT_SIGN_IN_MS = 10 * 60_000

/**
 * The tokens of the caller, read again because they may have been revoked or may have expired since the request began.
 *
 * @throws PerdureError `auth-revoked`, `auth-expired`; `scope-escalation-denied` for a JWT, which nothing that outlives it
 *   can belong to
 */
export async function readCallerTokens(
  { tokens, clock }: CallerTokenDeps,
  principal: Principal,
): Promise<CallerTokens> {
  const { tokenId, browserSession } = principal
  if (isJwtPrincipal(principal)) {
    throw escalationDenied(
      'a JWT cannot create or rotate what has the rights of a token',
      'send the request with a token',
    )
  }
  const credential = tokenId === undefined ? undefined : await tokens.find(tokenId)
  if (credential?.revokedAt !== undefined) throw perdureError('auth-revoked')
  if (isExpired(credential, clock.now())) throw perdureError('auth-expired')
  if (browserSession === undefined || credential?.parentId === undefined) {
    return { creator: credential, session: undefined, limiting: [credential] }
  }
  const creator = await tokens.find(credential.parentId)
  const isRecent = clock.now() - credential.createdAt <= RECENT_SIGN_IN_MS
  return { creator, session: credential, limiting: isRecent ? [creator] : [creator, credential] }
}

export const isExpired = (token: TokenRecord | undefined, now: EpochMs): boolean =>
  token?.expiresAt !== undefined && token.expiresAt <= now

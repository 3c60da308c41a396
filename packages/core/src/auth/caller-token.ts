import { type Clock, type EpochMs, perdureError, type TokenRecord, type TokenStore } from '@perdure/ports'
import type { Principal } from './principal.ts'

export interface CallerTokenDeps {
  readonly tokens: Pick<TokenStore, 'find'>
  readonly clock: Clock
}

export interface CallerTokens {
  /** The token of the request; `undefined` if the caller has none. */
  readonly credential: TokenRecord | undefined
  /** The token that what the caller creates belongs to: for a session of the console, the token that signed in. */
  readonly creator: TokenRecord | undefined
}

/**
 * The tokens of the caller, read again because they may have been revoked or may have expired since the request began.
 *
 * @throws PerdureError `auth-revoked`, `auth-expired`
 */
export async function readCallerTokens(
  { tokens, clock }: CallerTokenDeps,
  { tokenId, browserSession }: Principal,
): Promise<CallerTokens> {
  const credential = tokenId === undefined ? undefined : await tokens.find(tokenId)
  if (credential?.revokedAt !== undefined) throw perdureError('auth-revoked')
  if (isExpired(credential, clock.now())) throw perdureError('auth-expired')
  const isSession = browserSession !== undefined && credential?.parentId !== undefined
  return { credential, creator: isSession ? await tokens.find(credential.parentId) : credential }
}

export const isExpired = (token: TokenRecord | undefined, now: EpochMs): boolean =>
  token?.expiresAt !== undefined && token.expiresAt <= now

import {
  type Clock,
  type Digest,
  type Logger,
  perdureError,
  type TokenRecord,
  type TokenStore,
  type UnitOfWork,
  type Write,
} from '@perdure/ports'
import { CHAT_SUBJECT_PREFIX, isWellFormedToken } from '@perdure/protocol'
import { createBoundedMap } from '../collections/bounded-map.ts'
import { type AuthenticateJwt, isJwtForm } from './authenticate-jwt.ts'
import { JWT_SUBJECT_PREFIX, OIDC_SUBJECT_PREFIX, type Principal } from './principal.ts'
import { type CredentialKind, tokenDigest } from './token-digest.ts'

export interface AuthenticateDeps {
  readonly tokens: TokenStore
  readonly unitOfWork: UnitOfWork
  readonly digest: Digest
  readonly clock: Clock
  readonly logger: Logger
  /** The current pepper, followed by earlier peppers whose tokens stay valid. */
  readonly peppers: readonly Uint8Array[]
  /** Missing if no issuer of JWTs is configured. */
  readonly authenticateJwt?: AuthenticateJwt | undefined
}

/**
 * Turns the Authorization header, or a cookie in the form of that header, into a principal.
 *
 * @param clientAddress the address that a failed attempt counts against; an attempt without an address is not counted
 * @param kind default: `bearer`
 * @throws PerdureError `auth-required`, `auth-invalid`, `auth-revoked`, `auth-expired`, `auth-locked-out`,
 *   `auth-keys-unavailable`
 */
export type Authenticate = (
  authorization: string | undefined,
  clientAddress: string | undefined,
  kind?: CredentialKind,
) => Promise<Principal>

const TOUCH_EVERY_MS = 60_000
const MAX_TOUCHED = 10_000
const MAX_TOKEN_LENGTH = 256

/**
 * Finds a token by its digest under each pepper. A token found under an earlier pepper is rehashed with the current
 * pepper.
 */
export function createAuthenticate(
  deps: AuthenticateDeps,
): (authorization: string | undefined, clientAddress?: string, kind?: CredentialKind) => Promise<Principal> {
  const { clock, logger, unitOfWork, authenticateJwt } = deps
  /**
   * When the last use of each token was sent to the storage. Ensures that only one of many concurrent requests writes.
   */
  const touched = createBoundedMap<string, number>(MAX_TOUCHED)

  const inBackground = (write: Write, token: TokenRecord, failure: string) => {
    unitOfWork.commit([write]).catch((error: unknown) => logger.error(failure, error, { tokenId: token.id }))
  }

  const touch = (token: TokenRecord) => {
    const at = clock.now()
    const last = Math.max(
      token.lastUsedAt ?? Number.NEGATIVE_INFINITY,
      touched.get(token.id) ?? Number.NEGATIVE_INFINITY,
    )
    if (at - last < TOUCH_EVERY_MS) return
    touched.set(token.id, at)
    inBackground({ type: 'token.touch', id: token.id, at }, token, 'cannot record the use of a token')
  }

  return async (authorization, _, kind = 'bearer') => {
    const credential = credentialOf(authorization)
    if (kind === 'bearer' && authenticateJwt !== undefined && isJwtForm(credential)) return authenticateJwt(credential)
    const { token, rehash } = await findToken(deps, { token: wellFormed(credential), kind })
    // An earlier release could create such a token.
    if (foreignPrefixes(kind).some((prefix) => token.subject.startsWith(prefix)))
      throw perdureError('auth-invalid', { hint: 'create a new token' })
    if (token.revokedAt !== undefined) throw perdureError('auth-revoked')
    if (token.expiresAt !== undefined && token.expiresAt <= clock.now()) throw perdureError('auth-expired')
    touch(token)
    if (rehash !== undefined) inBackground(rehash, token, 'cannot rehash a token with the current pepper')
    return { subject: token.subject, tokenId: token.id, scopes: token.scopes, caller: token.caller }
  }
}

/** Subjects that such a credential cannot have. Sessions of the console belong to users of a provider, too. */
const foreignPrefixes = (kind: CredentialKind): readonly string[] => [
  JWT_SUBJECT_PREFIX,
  CHAT_SUBJECT_PREFIX,
  ...(kind === 'bearer' ? [OIDC_SUBJECT_PREFIX] : []),
]

/** For `auth.kind: 'none'`: every client that reaches the loopback listener is an administrator. */
export const authenticateAnyone: Authenticate = async () => ANYONE

const ANYONE: Principal = { subject: 'anonymous', scopes: ['admin:*'] }

function credentialOf(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw perdureError('auth-required', { hint: 'send the header Authorization: Bearer <token>' })
  }
  return /^bearer ([!-~]+)$/i.exec(authorization)?.[1] ?? ''
}

function wellFormed(token: string): string {
  if (token.length <= MAX_TOKEN_LENGTH && isWellFormedToken(token)) return token
  throw perdureError('auth-invalid', {
    hint: 'send Authorization: Bearer <token> with a token from perdure token create',
  })
}

interface Found {
  readonly token: TokenRecord
  /** Replaces the digest under an earlier pepper with the digest under the current pepper. */
  readonly rehash?: Write | undefined
}

async function findToken(
  { tokens, digest, peppers }: AuthenticateDeps,
  credential: Parameters<typeof tokenDigest>[2],
): Promise<Found> {
  const digests = peppers.map((pepper) => tokenDigest(digest, pepper, credential))
  const [current = '', ...earlier] = digests
  // Another request may rehash the token between two lookups, so try the current digest again at the end.
  const lookups = earlier.length === 0 ? digests : [...digests, current]
  for (const wanted of lookups) {
    const token = await tokens.findByDigest(wanted)
    if (token === undefined || !digest.equals(token.digest, wanted)) continue
    if (wanted === current) return { token }
    return { token, rehash: { type: 'token.rehash', id: token.id, from: wanted, to: current } }
  }
  throw perdureError('auth-invalid')
}

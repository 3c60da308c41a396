import { JWT_SUBJECT_PREFIX, type Principal } from './principal.ts'

/**
 * The user that a JWT authenticates, and its lifetime. The id of the credential, `Principal.tokenId`, contains both, because a
 * JWT has no row that could be looked up.
 */
export interface JwtCredential {
  readonly subject: string
  /** Epoch milliseconds; 0 for a JWT without `iat`, which any revocation of its subject therefore covers. */
  readonly issuedAt: number
  /** Epoch milliseconds, including the clock tolerance. */
  readonly expiresAt: number
}

/** `jwt_<issuedAt>_<expiresAt>_<issuer id>:<sub>`. */
export const formatJwtCredential = ({ subject, issuedAt, expiresAt }: JwtCredential): string =>
  `jwt_${issuedAt}_${expiresAt}_${subject.slice(JWT_SUBJECT_PREFIX.length)}`

const FORM = /^jwt_(\d{1,16})_(\d{1,16})_(.+)$/

/** `undefined` for the id of a token. */
export function parseJwtCredential(tokenId: string): JwtCredential | undefined {
  const [, issuedAt, expiresAt, name] = FORM.exec(tokenId) ?? []
  if (name === undefined) return undefined
  return { subject: `${JWT_SUBJECT_PREFIX}${name}`, issuedAt: Number(issuedAt), expiresAt: Number(expiresAt) }
}

/** What limits per token count: the token, or the user behind any number of JWTs. */
export const holderOf = (tokenId: string): string => parseJwtCredential(tokenId)?.subject ?? tokenId

export const isJwtPrincipal = ({ tokenId }: Pick<Principal, 'tokenId'>): boolean =>
  tokenId !== undefined && parseJwtCredential(tokenId) !== undefined

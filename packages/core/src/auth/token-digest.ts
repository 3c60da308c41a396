import type { Digest } from '@perdure/ports'

/** How a token is sent. */
export type CredentialKind = 'bearer' | 'cookie'

/**
 * The digest under which a token is stored. It differs by the kind of credential, so a record matches only one kind: the
 * value of a cookie is no bearer token, and a bearer token is no cookie.
 */
export const tokenDigest = (
  digest: Pick<Digest, 'hmacSha256'>,
  pepper: Uint8Array,
  { token, kind }: { readonly token: string; readonly kind: CredentialKind },
): string => digest.hmacSha256(pepper, kind === 'bearer' ? token : `console-session:${token}`)

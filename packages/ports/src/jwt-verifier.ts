import type { JwtClaims } from '@perdure/protocol'

/** What a JWT of an issuer must satisfy. All of it comes from the configuration, none of it from the JWT. */
export interface JwtRules {
  /** The claim `iss`. */
  readonly issuer: string
  /** The claim `aud` must contain one of these. */
  readonly audience: readonly string[]
  /** Either only HMAC algorithms, or none of them. */
  readonly algorithms: readonly string[]
  /** The header `typ`; not checked if missing. */
  readonly typ?: string | undefined
  readonly maxAgeSeconds?: number | undefined
  readonly clockToleranceSeconds: number
}

/** The keys of an issuer: the HMAC secret or public keys (PEM, JWK or JWK Set), or the URL of a JWK Set. */
export type JwtKeys = { readonly bytes: Uint8Array } | { readonly url: string }

export type JwtVerdict =
  | { readonly kind: 'verified'; readonly claims: JwtClaims }
  /** The signature is valid, but the JWT has expired or is older than `maxAgeSeconds`. */
  | { readonly kind: 'expired' }
  | { readonly kind: 'invalid'; readonly reason: string }
  /** The keys cannot be fetched at the moment, so nothing is known about the JWT. */
  | { readonly kind: 'keys-unavailable'; readonly reason: string }

/** Verifies a JWT in compact form at a time, in milliseconds since the epoch. Never rejects. */
export type VerifyJwt = (jwt: string, now: number) => Promise<JwtVerdict>

/**
 * Port. Verifies signatures and the registered claims of JWTs. Uses no key, address or certificate that a JWT names in
 * its header, other than to choose among the configured keys by `kid`.
 */
export interface JwtVerifier {
  /**
   * Prepares the verification for one issuer; opens no connection. `exp`, `iss` and `aud` are required claims. A JWK Set is
   * fetched with the first JWT, bounded in size and time, without redirects. It is cached, and fetched again for an unknown
   * `kid` at most once per cool-down.
   *
   * @throws Error whose message names the problem, if the keys do not fit the algorithms
   */
  open(rules: JwtRules, keys: JwtKeys): VerifyJwt
}

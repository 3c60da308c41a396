import type { JwtClaims } from '@perdure/protocol'

/** What binds the answer of a provider to the browser that was sent there. */
export interface SignInCheck {
  readonly state: string
  readonly nonce: string
  /** The verifier of PKCE (RFC 7636). */
  readonly codeVerifier: string
}

/** The provider cannot be reached, hangs, or does not describe itself as OpenID Connect requires. */
export interface ProviderUnavailable {
  readonly kind: 'unavailable'
  readonly reason: string
}

export type SignInVerdict =
  | {
      readonly kind: 'identified'
      /** The claim `sub`. */
      readonly name: string
      /** When the ID token was issued, in milliseconds since the epoch. */
      readonly issuedAt: number
      /** The claims of the verified ID token or, if that lacks the claim in question, of the userinfo endpoint. */
      readonly claims: JwtClaims
    }
  | { readonly kind: 'refused'; readonly reason: string }
  | ProviderUnavailable

/**
 * Port. An OpenID Connect provider whose users sign in with the authorization code flow. Every request to it is bounded in
 * time and size and follows no redirect. No method rejects.
 */
export interface SignInProvider {
  /** The URL of the provider to which the browser is sent. */
  begin(check: SignInCheck): Promise<{ readonly kind: 'started'; readonly url: string } | ProviderUnavailable>
  /**
   * Exchanges the code in the query of the redirect, and verifies state, issuer, audience, nonce, signature and times of
   * the ID token. A code that is used twice is refused by the provider.
   */
  finish(query: URLSearchParams, check: SignInCheck): Promise<SignInVerdict>
  /** The URL at which the provider ends its own session; `undefined` if it has none, or cannot be reached. */
  endSessionUrl(): Promise<string | undefined>
}

import type { RequestOrigin } from '@perdure/ports'

/** Who is asking. */
export interface Principal {
  /** Owns what it creates; stable across token rotation. */
  readonly subject: string
  readonly tokenId?: string
  readonly scopes: readonly string[]
  /** Set when a cookie was the credential: the browser session that it stands for. Its requests pass the cross-site checks. */
  readonly browserSession?: string
  /** The request in which it asks. */
  readonly origin?: RequestOrigin | undefined
}

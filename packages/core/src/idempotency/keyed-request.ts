import { perdureError, type Visibility } from '@perdure/ports'
import { IDEMPOTENCY_KEY } from '@perdure/protocol'

/** The stored identity of a request with an Idempotency-Key. */
export interface KeyedRequest {
  /** `<128 bits of SHA-256(subject, method, path)>:<key>`; the hash of a sealed request includes its credential. */
  readonly id: string
  readonly fingerprint: string // SHA-256 of path, canonical query and RFC 8785 body
  /** Id of the run, session or approval in the path, whose content the answer may contain. */
  readonly contentOf?: string | undefined
  /** Set when the answer contains a secret: its body is then stored encrypted. */
  readonly sealed?: true | undefined
  /** The rows that the caller may see. A stored answer is not shown to a caller that may see fewer rows. */
  readonly visibility?: Visibility | undefined
  /**
   * What else identifies the request, whatever its key is. Of the requests that share it, only the first takes effect; another
   * one gets its answer.
   */
  readonly claim?: RequestClaim | undefined
  /** Identities of what else the request takes along. The request is refused if an earlier one has taken one of them. */
  readonly includes?: readonly RequestClaim[] | undefined
  /** Set when a repeated request reads its answer again: only the effect of the first request is stored. */
  readonly rereads?: true | undefined
}

export type RequestClaim = Pick<KeyedRequest, 'id' | 'fingerprint' | 'visibility'>

/** Identifies the caller that received an answer with a secret. */
export interface Credential {
  readonly tokenId?: string | undefined
  readonly scopes: readonly string[]
}

export interface RequestIdentity {
  readonly subject: string
  readonly method: string
  readonly path: string // canonical: one spelling per operation and parameters
  readonly query: ReadonlyArray<readonly [string, string]>
  readonly body: unknown
  readonly contentOf?: string | undefined
  /**
   * Set when the answer contains a secret. The key then belongs to this credential and to the tokens that replace it in
   * rotations; the same key of any other token is a separate key.
   */
  readonly sealedFor?: Credential | undefined
}

/** Parses the header: a bare key or a quoted structured-field string. @throws PerdureError `idempotency-key-invalid` */
export function parseIdempotencyKey(header: string): string {
  const isQuoted = header.length >= 2 && header.startsWith('"') && header.endsWith('"')
  const inner = isQuoted ? header.slice(1, -1) : header
  const hasBadEscape = isQuoted && /(?:^|[^\\])(?:\\\\)*(?:"|\\(?:[^"\\]|$))/.test(inner)
  const key = isQuoted ? inner.replace(/\\(["\\])/g, '$1') : inner
  if (hasBadEscape || !IDEMPOTENCY_KEY.test(key)) {
    throw perdureError('idempotency-key-invalid', { hint: 'use a UUID, bare or in double quotes' })
  }
  return key
}

import { AppError } from '@perdure/ports'

/** The stored identity of a request with an Idempotency-Key. */
export interface KeyedRequest {
  readonly id: string // `<128 bits of SHA-256(subject, method, path)>:<key>`
  readonly fingerprint: string // SHA-256 of path, canonical query and RFC 8785 body
  /** Id of the run, session or approval in the path, whose content the answer may contain. */
  readonly contentOf?: string | undefined
  /** Set when the answer contains a secret: its body is then stored encrypted. */
  readonly sealed?: true | undefined
}

export interface RequestIdentity {
  readonly subject: string
  readonly method: string
  readonly path: string // canonical: one spelling per operation and parameters
  readonly query: ReadonlyArray<readonly [string, string]>
  readonly body: unknown
  readonly contentOf?: string | undefined
}

const VISIBLE_ASCII = /^[!-~]{1,255}$/

/** Parses the header: a bare key or a quoted structured-field string. @throws AppError `idempotency-key-invalid` */
export function parseIdempotencyKey(header: string): string {
  const isQuoted = header.length >= 2 && header.startsWith('"') && header.endsWith('"')
  const inner = isQuoted ? header.slice(1, -1) : header
  const hasBadEscape = isQuoted && /(?:^|[^\\])(?:\\\\)*(?:"|\\(?:[^"\\]|$))/.test(inner)
  const key = isQuoted ? inner.replace(/\\(["\\])/g, '$1') : inner
  if (hasBadEscape || !VISIBLE_ASCII.test(key)) {
    throw new AppError('idempotency-key-invalid', { hint: 'use a UUID, bare or in double quotes' })
  }
  return key
}

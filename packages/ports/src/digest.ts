/** Port. Hash functions: text is hashed as UTF-8, digests are lower-case hex. */
export interface Digest {
  sha256(text: string): string
  /** Computes the SHA-256 of a text that is passed in pieces, as text or as UTF-8. Call `end` exactly once, after the last piece. */
  startSha256(): { update(text: string | Uint8Array): void; end(): string }
  hmacSha256(key: Uint8Array, text: string): string
  /** Derives a 32-byte key for one purpose from a secret, with HKDF-SHA256 (RFC 5869) without a salt. */
  deriveKey(secret: Uint8Array, purpose: string): Uint8Array
  /** Compares in constant time: the duration depends only on the lengths, not on the content. */
  equals(a: string, b: string): boolean
}

export function sha256OfBytes({ startSha256 }: Pick<Digest, 'startSha256'>, bytes: Uint8Array): string {
  const hash = startSha256()
  hash.update(bytes)
  return hash.end()
}

/** Port. Hashes; texts are hashed as UTF-8, digests are lower-case hex. */
export interface Digest {
  sha256(text: string): string
  /** SHA-256 of a text that comes piece by piece; `end` is called once, last. */
  startSha256(): { update(text: string): void; end(): string }
  hmacSha256(key: Uint8Array, text: string): string
  /** 32 bytes for one purpose, derived from a secret by HKDF-SHA256 (RFC 5869) without a salt. */
  deriveKey(secret: Uint8Array, purpose: string): Uint8Array
  /** Compares in time that depends on the lengths only. */
  equals(a: string, b: string): boolean
}

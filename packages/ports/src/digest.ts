/** Port. Hashes; texts are hashed as UTF-8, digests are lower-case hex. */
export interface Digest {
  sha256(text: string): string
  hmacSha256(key: Uint8Array, text: string): string
  /** Compares in time that depends on the lengths only. */
  equals(a: string, b: string): boolean
}

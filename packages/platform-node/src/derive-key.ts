import { hkdfSync } from 'node:crypto'

/** A key of 32 bytes for one purpose, by HKDF-SHA256: the secret itself is never used twice for different things. */
export const deriveKey = (secret: Uint8Array, purpose: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(), purpose, 32))

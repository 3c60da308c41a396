import { createHash, createHmac, hash, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Digest } from '@perdure/ports'

/** Hashes from `node:crypto`. */
export const nodeDigest: Digest = {
  sha256: (text) => hash('sha256', text, 'hex'),
  startSha256() {
    const state = createHash('sha256')
    return { update: (text) => void state.update(text), end: () => state.digest('hex') }
  },
  hmacSha256: (key, text) => createHmac('sha256', key).update(text).digest('hex'),
  deriveKey: (secret, purpose) => new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32)),
  equals(a, b) {
    const left = Buffer.from(a, 'utf8')
    const right = Buffer.from(b, 'utf8')
    return left.length === right.length && timingSafeEqual(left, right)
  },
}

import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Digest } from '@berth/ports'

/** Hashes of `node:crypto`. */
export const nodeDigest: Digest = {
  sha256: (text) => createHash('sha256').update(text, 'utf8').digest('hex'),
  startSha256() {
    const hash = createHash('sha256')
    return { update: (text) => void hash.update(text, 'utf8'), end: () => hash.digest('hex') }
  },
  hmacSha256: (key, text) => createHmac('sha256', key).update(text, 'utf8').digest('hex'),
  deriveKey: (secret, purpose) => new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32)),
  equals(a, b) {
    const left = Buffer.from(a, 'utf8')
    const right = Buffer.from(b, 'utf8')
    return left.length === right.length && timingSafeEqual(left, right)
  },
}

import { createHash, createHmac, createSecretKey, hash, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { Digest } from '@perdure/ports'

/** Caches key objects, because creating one takes ten times as long as using it. */
const keyObjects = new WeakMap<Uint8Array, KeyObject>()

function keyObjectOf(key: Uint8Array): KeyObject {
  const known = keyObjects.get(key)
  if (known !== undefined) return known
  const created = createSecretKey(key)
  keyObjects.set(key, created)
  return created
}

/** Hashes from `node:crypto`. A key of `hmacSha256` must not be changed after its first use. */
export const nodeDigest: Digest = {
  sha256: (text) => hash('sha256', text, 'hex'),
  startSha256() {
    const state = createHash('sha256')
    return { update: (text) => void state.update(text), end: () => state.digest('hex') }
  },
  hmacSha256: (key, text) => createHmac('sha256', keyObjectOf(key)).update(text).digest('hex'),
  deriveKey: (secret, purpose) => new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32)),
  equals(a, b) {
    const left = Buffer.from(a, 'utf8')
    const right = Buffer.from(b, 'utf8')
    return left.length === right.length && timingSafeEqual(left, right)
  },
}

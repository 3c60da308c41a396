import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Digest, Sealer } from '@perdure/ports'

export const testDigest: Digest = {
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
  startSha256() {
    const hash = createHash('sha256')
    return { update: (text) => void hash.update(text), end: () => hash.digest('hex') }
  },
  hmacSha256: (key, text) => createHmac('sha256', key).update(text).digest('hex'),
  deriveKey: (secret, purpose) => new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32)),
  equals: (a, b) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b)),
}

/** Only encodes the text, so that tests can check that no plain text is stored. The real sealer has its own tests. */
export const testSealer: Sealer = {
  seal: (text, context) => Buffer.from(JSON.stringify([context, text])).toString('hex'),
  open(sealed, context) {
    const [sealedFor, text] = JSON.parse(Buffer.from(sealed, 'hex').toString())
    return sealedFor === context ? text : undefined
  },
}

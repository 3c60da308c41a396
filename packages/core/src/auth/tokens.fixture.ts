import { createHash, createHmac, hkdfSync } from 'node:crypto'
import { createInMemoryStorage } from '@perdure/in-memory'
import type { Digest } from '@perdure/ports'
import { BUILT_AT, createManualClock, createSequenceIds } from '@perdure/testkit'
import { createManageTokens } from './manage-tokens.ts'

export const PEPPER = new TextEncoder().encode('p'.repeat(32))

export const testDigest: Digest = {
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
  hmacSha256: (key, text) => createHmac('sha256', key).update(text).digest('hex'),
  startSha256() {
    const hash = createHash('sha256')
    return { update: (text) => void hash.update(text), end: () => hash.digest('hex') }
  },
  deriveKey: (secret, purpose) => new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32)),
  equals: (a, b) => a === b,
}

/** Token management on in-memory storage and a manual clock. */
export function createTokens() {
  const storage = createInMemoryStorage()
  const clock = createManualClock(BUILT_AT)
  const shared = { tokens: storage.tokens, unitOfWork: storage.unitOfWork, digest: testDigest, clock }
  const manage = createManageTokens({ ...shared, ids: createSequenceIds(), peppers: [PEPPER] })
  return { storage, clock, shared, manage }
}

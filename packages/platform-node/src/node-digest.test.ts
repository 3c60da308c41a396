import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodeDigest } from './node-digest.ts'

describe('nodeDigest', () => {
  it('gives the SHA-256 of FIPS 180-4 in lower-case hex', () => {
    expect(nodeDigest.sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })

  it('hashes text as UTF-8', () => {
    expect(nodeDigest.sha256('é')).toBe('4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c')
  })

  it('gives the HMAC-SHA256 of RFC 4231, case 2', () => {
    expect(nodeDigest.hmacSha256(Buffer.from('Jefe'), 'what do ya want for nothing?')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    )
  })

  it('finds two texts equal exactly when they are', () => {
    fc.assert(fc.property(fc.string(), fc.string(), (a, b) => nodeDigest.equals(a, b) === (a === b)))
    fc.assert(fc.property(fc.string(), (text) => nodeDigest.equals(text, `${text}`)))
  })
})

import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodeDigest } from './node-digest.ts'

describe('nodeDigest', () => {
  it('computes SHA-256 as in FIPS 180-4, in lower-case hex', () => {
    expect(nodeDigest.sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })

  it('hashes text as UTF-8', () => {
    expect(nodeDigest.sha256('é')).toBe('4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c')
  })

  it('computes HMAC-SHA256 as in RFC 4231, case 2', () => {
    expect(nodeDigest.hmacSha256(Buffer.from('Jefe'), 'what do ya want for nothing?')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    )
  })

  it('computes HMAC-SHA256 with the key of each call, whatever keys it has used before', () => {
    const key = fc.uint8Array({ maxLength: 80 })
    const calls = fc.array(fc.tuple(fc.nat({ max: 2 }), fc.string()), { minLength: 1, maxLength: 12 })

    fc.assert(
      fc.property(fc.tuple(key, key, key), calls, (keys, uses) => {
        for (const [index, text] of uses) {
          const expected = createHmac('sha256', Uint8Array.from(keys[index]!)).update(text).digest('hex')
          expect(nodeDigest.hmacSha256(keys[index]!, text)).toBe(expected)
        }
      }),
    )
  })

  it('derives keys as in RFC 5869, a different key for each secret and purpose', () => {
    const secret = new Uint8Array(22).fill(0x0b)
    const hex = (purpose: string, from = secret) => Buffer.from(nodeDigest.deriveKey(from, purpose)).toString('hex')

    // The first 32 bytes of test case 3 in the RFC, which has neither salt nor info.
    expect(hex('')).toBe('8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d')
    expect(new Set([hex('a'), hex('b'), hex('a', new Uint8Array(22))]).size).toBe(3)
  })

  it('reports two texts as equal if and only if they are identical', () => {
    fc.assert(fc.property(fc.string(), fc.string(), (a, b) => nodeDigest.equals(a, b) === (a === b)))
    fc.assert(fc.property(fc.string(), (text) => nodeDigest.equals(text, `${text}`)))
  })
})

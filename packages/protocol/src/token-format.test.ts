import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatToken, isWellFormedToken, TOKEN_ENVS } from './token-format.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secret = fc.uint8Array({ minLength: 32, maxLength: 32 })
const env = fc.constantFrom(...TOKEN_ENVS)

describe('formatToken', () => {
  // Computed with Python's int.from_bytes and zlib.crc32.
  it.each([
    ['live', new Uint8Array(32), 'perdure_live_v1_00000000000000000000000000000000000000000002z36gr'],
    [
      'test',
      Uint8Array.from({ length: 32 }, (_, index) => index),
      'perdure_test_v1_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf29EcKC',
    ],
    ['local', new Uint8Array(32).fill(255), 'perdure_local_v1_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp10EmPg5'],
  ] as const)('matches an independent computation for the environment %s', (tokenEnv, bytes, expected) => {
    expect(formatToken(tokenEnv, bytes)).toBe(expected)
  })

  it('produces well-formed tokens that differ for each secret', () => {
    fc.assert(
      fc.property(env, secret, secret, (tokenEnv, one, other) => {
        const token = formatToken(tokenEnv, one)
        expect(isWellFormedToken(token)).toBe(true)
        expect(formatToken(tokenEnv, other) === token).toBe(one.every((byte, index) => byte === other[index]))
      }),
    )
  })

  it('rejects a secret that is not 32 bytes long', () => {
    expect(() => formatToken('live', new Uint8Array(31))).toThrow(RangeError)
    expect(() => formatToken('live', new Uint8Array(33))).toThrow(RangeError)
  })
})

describe('isWellFormedToken', () => {
  it('detects any single changed character', () => {
    const token = formatToken(
      'local',
      Uint8Array.from({ length: 32 }, (_, index) => 37 * index),
    )

    for (let index = 0; index < token.length; index++) {
      for (const character of BASE62) {
        if (character === token[index]) continue
        const changed = token.slice(0, index) + character + token.slice(index + 1)
        expect(isWellFormedToken(changed), changed).toBe(false)
      }
    }
  })

  it('detects two swapped neighbouring characters', () => {
    fc.assert(
      fc.property(env, secret, fc.nat({ max: 47 }), (tokenEnv, bytes, offset) => {
        const token = formatToken(tokenEnv, bytes)
        const at = token.length - 49 + offset
        const swapped = token.slice(0, at) + token[at + 1] + token[at] + token.slice(at + 2)
        expect(isWellFormedToken(swapped)).toBe(swapped === token)
      }),
    )
  })

  it('rejects a token that is shorter, longer or surrounded by text', () => {
    const token = formatToken('test', new Uint8Array(32).fill(7))

    for (const text of ['', token.slice(1), token.slice(0, -1), `${token}0`, ` ${token}`, `${token}\n`]) {
      expect(isWellFormedToken(text), JSON.stringify(text)).toBe(false)
    }
  })
})

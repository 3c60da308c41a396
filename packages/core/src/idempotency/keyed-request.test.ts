import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseIdempotencyKey } from './keyed-request.ts'

const visibleAscii = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)) })
const nearlyKey = fc.string({ unit: fc.constantFrom('"', '\\', 'a', 'Z', '9', ' ', 'é', '\t'), maxLength: 12 })

const parsed = (header: string): string | undefined => {
  try {
    return parseIdempotencyKey(header)
  } catch (error) {
    expect(error).toMatchObject({ kind: 'idempotency-key-invalid' })
    return undefined
  }
}

/** Parses a string as in RFC 8941 section 4.2.5, one character at a time. */
function unquoted(header: string): string | undefined {
  let key = ''
  for (let index = 1; index < header.length; index++) {
    const char = header.charAt(index)
    if (char === '"') return index === header.length - 1 ? key : undefined
    if (char !== '\\') {
      key += char
      continue
    }
    index++
    const escaped = header.charAt(index)
    if (escaped !== '"' && escaped !== '\\') return undefined
    key += escaped
  }
  return undefined
}

const quoted = (key: string) => `"${key.replace(/["\\]/g, '\\$&')}"`

describe('parseIdempotencyKey', () => {
  it.each([
    ['8e03978e-40d5-43e8-bc93-6894a57f9324', '8e03978e-40d5-43e8-bc93-6894a57f9324'],
    ['"8e03978e-40d5-43e8-bc93-6894a57f9324"', '8e03978e-40d5-43e8-bc93-6894a57f9324'],
    [String.raw`"a\"b\\c"`, String.raw`a"b\c`],
    [String.raw`a\b`, String.raw`a\b`],
    ['"', '"'],
    ['"open', '"open'],
    ['x'.repeat(255), 'x'.repeat(255)],
    [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
  ])('parses %j', (header, key) => {
    expect(parseIdempotencyKey(header)).toBe(key)
  })

  it.each([
    [''],
    ['""'],
    ['two words'],
    ['"two words"'],
    ['é'],
    ['a\u007f'],
    ['x'.repeat(256)],
    [`"${'x'.repeat(256)}"`],
    ['"a"b"'],
    [String.raw`"a\b"`],
    [String.raw`"a\"`],
    [String.raw`"\\""`],
    [String.raw`"\\\"`],
  ])('rejects %j', (header) => {
    expect(() => parseIdempotencyKey(header)).toThrow(expect.objectContaining({ kind: 'idempotency-key-invalid' }))
  })

  it('parses a key identically with and without quotes', () => {
    fc.assert(
      fc.property(visibleAscii, (key) => {
        fc.pre(key.length >= 1 && key.length <= 255)

        expect(parseIdempotencyKey(quoted(key))).toBe(key)
        if (!(key.startsWith('"') && key.endsWith('"') && key.length > 1)) expect(parseIdempotencyKey(key)).toBe(key)
      }),
    )
  })

  it('accepts exactly the RFC 8941 strings of visible characters', () => {
    fc.assert(
      fc.property(nearlyKey, (inner) => {
        const key = unquoted(`"${inner}"`)

        expect(parsed(`"${inner}"`)).toBe(key !== undefined && /^[!-~]{1,255}$/.test(key) ? key : undefined)
      }),
      { numRuns: 5_000 },
    )
  })
})

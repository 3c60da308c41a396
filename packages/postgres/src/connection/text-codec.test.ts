import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeText, encodeText, encodeValue } from './text-codec.ts'

const anyText = fc.string({ unit: fc.constantFrom('\u0000', '\u0001', '\u0002', 'a', 'é', '\u{1F600}') })

it('restores every text, and stores none with U+0000', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const encoded = encodeText(text)
      expect(encoded).not.toContain('\u0000')
      expect(decodeText(encoded)).toBe(text)
    }),
  )
})

it('keeps the order of texts by code point', () => {
  const compare = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other))
  fc.assert(
    fc.property(anyText, anyText, (one, other) => {
      expect(compare(encodeText(one), encodeText(other))).toBe(compare(one, other))
    }),
  )
})

it('encodes the texts of a list and leaves other values as they are', () => {
  expect(encodeValue(['a\u0000', null, 1])).toEqual(['a\u0001\u0001', null, 1])
  expect(encodeValue(7)).toBe(7)
})

import { toJsonText } from '@perdure/ports'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLongerThan, jsonObject } from './json-members.ts'

describe('jsonObject', () => {
  it('returns JSON that parses to the union of the fields and the texts', () => {
    const name = fc.string().filter((key) => key !== '__proto__')
    const members = fc.dictionary(name, fc.jsonValue())
    fc.assert(
      fc.property(members, members, (fields, rest) => {
        const texts = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, toJsonText(value)]))

        expect(JSON.parse(jsonObject(fields, texts))).toEqual(JSON.parse(JSON.stringify({ ...fields, ...rest })))
      }),
    )
  })

  it('omits undefined members and keeps JSON texts unchanged', () => {
    const big = toJsonText(null).replace('null', '12345678901234567890') as ReturnType<typeof toJsonText>

    expect(jsonObject({ a: undefined }, { b: undefined, c: big })).toBe('{"c":12345678901234567890}')
    expect(jsonObject({}, {})).toBe('{}')
  })
})

describe('isLongerThan', () => {
  it('counts UTF-8 bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 20 }), fc.nat(70), (text, maxBytes) => {
        expect(isLongerThan(text, maxBytes)).toBe(Buffer.byteLength(text) > maxBytes)
      }),
    )
  })

  it.each([
    ['ab', 2, false],
    ['ab', 1, true],
    ['é', 2, false],
    ['é', 1, true],
    ['€', 2, true],
    ['😀', 4, false],
    ['😀', 3, true],
  ])('compares %j with a limit of %i bytes', (text, maxBytes, expected) => {
    expect(isLongerThan(text, maxBytes)).toBe(expected)
  })
})

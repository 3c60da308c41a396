import { canonicalJson } from '@perdure/ports'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

/** A double from its IEEE 754 bits. */
const double = (hex: string) => Buffer.from(hex, 'hex').readDoubleBE()

describe('canonicalJson', () => {
  it('writes the sample of RFC 8785 section 3.2.2', () => {
    const sample = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`

    expect(canonicalJson(JSON.parse(sample))).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    )
  })

  it.each(['[1,{"b":1,"a":2}]', '[{"b":1,"a":2},1]', '[[1,{"b":[{"d":1,"c":[]}],"a":2}]]'])(
    'sorts the members of objects in an array with other elements: %s',
    (text) => {
      const sorted = {
        '{"b":1,"a":2}': '{"a":2,"b":1}',
        '{"b":[{"d":1,"c":[]}],"a":2}': '{"a":2,"b":[{"c":[],"d":1}]}',
      }
      const expected = Object.entries(sorted).reduce((whole, [from, to]) => whole.replace(from, to), text)

      expect(canonicalJson(JSON.parse(text))).toBe(expected)
    },
  )

  it('writes an array of scalars like its elements', () => {
    const scalars = [0, -0, 1e21, 0.1, '€\u0001"', true, null, undefined, Number.NaN]

    expect(canonicalJson(scalars)).toBe(`[${scalars.map((scalar) => canonicalJson(scalar ?? null)).join(',')}]`)
    expect(canonicalJson([])).toBe('[]')
  })

  it('sorts members as RFC 8785 section 3.2.3 does', () => {
    const sample = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    }

    expect([...canonicalJson(sample).matchAll(/:"([^"]+)"/g)].map((match) => match[1])).toEqual([
      'Carriage Return',
      'One',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ])
  })

  it.each([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ])('writes the double %s of RFC 8785 appendix B as %s', (bits, text) => {
    expect(canonicalJson(double(bits))).toBe(text)
  })

  it('omits undefined members and writes other undefined values as null', () => {
    expect(canonicalJson({ a: undefined, b: [undefined, 1] })).toBe('{"b":[null,1]}')
    expect(canonicalJson(undefined)).toBe('null')
  })

  it('equals JSON.stringify except for the order of members', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value)

        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalJson(JSON.parse(text))).toBe(text)
      }),
    )
  })

  it('does not depend on the order of members', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse())

        expect(canonicalJson({ x: [reversed] })).toBe(canonicalJson({ x: [value] }))
      }),
    )
  })

  it('writes different values differently', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const isSame = isEqualJson(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)))

        expect(canonicalJson(a) === canonicalJson(b)).toBe(isSame)
      }),
    )
  })
})

function isEqualJson(a: unknown, b: unknown): boolean {
  try {
    expect(a).toEqual(b)
    return true
  } catch {
    return false
  }
}

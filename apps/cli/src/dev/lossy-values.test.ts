import { describe, expect, it } from 'vitest'
import { lossyValues } from './lossy-values.ts'

describe('lossyValues', () => {
  it.each<[unknown, string]>([
    [{ tags: new Map([['a', 1]]) }, 'result.tags (a Map becomes {})'],
    [[new Set([1])], 'result[0] (a Set becomes {})'],
    [{ score: Number.NaN }, 'result.score (NaN becomes null)'],
    [{ a: [{ b: Number.POSITIVE_INFINITY }] }, 'result.a[0].b (Infinity becomes null)'],
    [{ a: undefined }, 'result.a (undefined is left out)'],
    [[undefined], 'result[0] (undefined becomes null)'],
    [{ a: () => 1 }, 'result.a (a function is left out)'],
    [{ 'a b': Symbol('x') }, 'result["a b"] (a symbol is left out)'],
    [{ cause: new Error('x') }, 'result.cause (an Error becomes {})'],
    [{ a: /x/ }, 'result.a (a RegExp becomes {})'],
    [{ a: Promise.resolve(1) }, 'result.a (a promise without await becomes {})'],
    [{ at: new Date(Number.NaN) }, 'result.at (an invalid Date becomes null)'],
    [{ toJSON: () => ({ a: new Map() }) }, 'result.a (a Map becomes {})'],
    [Number.NaN, 'result (NaN becomes null)'],
  ])('finds what JSON does not keep, with its path: case %#', (value, expected) => {
    expect(lossyValues(value)).toEqual([expected])
  })

  it.each<[unknown]>([
    [undefined],
    [null],
    ['text'],
    [{ a: [1, 'x', true, null, { b: -0 }], at: new Date(0), text: Buffer.from('x'), url: new URL('http://a') }],
    [{ toJSON: () => 'short' }],
  ])('finds nothing in a value that JSON keeps: case %#', (value) => {
    expect(lossyValues(value)).toEqual([])
  })

  it('reports at most five values, looks at no more than 10,000, and ends at a cycle', () => {
    const cycle: Record<string, unknown> = { lost: Number.NaN }
    cycle.self = cycle

    expect(lossyValues(cycle)).toEqual(['result.lost (NaN becomes null)'])
    expect(lossyValues(Array.from({ length: 9 }, () => Number.NaN))).toHaveLength(5)
    expect(lossyValues([...Array.from({ length: 10_000 }, () => 1), Number.NaN])).toEqual([])
  })
})

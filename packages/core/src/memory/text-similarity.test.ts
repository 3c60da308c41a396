import { wordsOf } from '@perdure/ports'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testDigest } from '../engine/test-engine.fixture.ts'
import { candidateQueryOf, fingerprintOf, similarityOf } from './text-similarity.ts'

const same = (a: string, b: string) => fingerprintOf(a, testDigest) === fingerprintOf(b, testDigest)

describe('fingerprintOf', () => {
  it.each([
    ['Alice lives in Berlin', 'alice lives in berlin.'],
    ['Alice lives in Berlin', '  Alice   lives\nin Berlin! '],
    ['The harbour opens at six', 'harbour opens at six'],
    ['She said "yes" to the plan', 'She said yes to the plan'],
    ["It's Bob’s boat", "it's bob's boat"],
    ['Café', 'Cafe\u0301'],
    ['Please just call Bob', 'call Bob'],
    ['the', 'The.'],
  ])('returns the same fingerprint for %j and %j', (one, other) => {
    expect(same(one, other)).toBe(true)
  })

  it.each([
    ['Alice lives in Berlin', 'Bob lives in Berlin'],
    ['Alice beats Bob', 'Bob beats Alice'],
    ['Alice likes tea', 'Alice does not like tea'],
    ['Alice writes C', 'Alice writes C++'],
    ['It is 5 degrees', 'It is -5 degrees'],
    ['It costs 1.5', 'It costs 15'],
    ['Take vitamin A', 'Take vitamin'],
    ['Alice told US officials', 'Alice told us officials'],
    ['Das ist schon fertig', 'Das ist schön fertig'],
    ['Alice likes tea', 'Alice likes tea?'],
    ['x < 5', 'x > 5'],
    ['🚢', '⚓'],
  ])('returns different fingerprints for %j and %j', (one, other) => {
    expect(same(one, other)).toBe(false)
  })
})

describe('similarityOf', () => {
  it('returns the fraction of the distinct words that occur in both texts', () => {
    expect(similarityOf('a b c', 'c B a')).toBe(1)
    expect(similarityOf('a b c', 'a b d')).toBe(0.5)
    expect(similarityOf('a', 'b')).toBe(0)
    expect(similarityOf('', '!')).toBe(0)
  })
})

describe('candidateQueryOf', () => {
  it('shares a word with every text that reaches the threshold', () => {
    const text = fc
      .array(fc.constantFrom('a', 'bb', 'ccc', 'dd', 'e', 'ffff', 'g'), { minLength: 1 })
      .map((w) => w.join(' '))
    fc.assert(
      fc.property(text, text, fc.integer({ min: 50, max: 100 }), (one, other, percent) => {
        fc.pre(similarityOf(one, other) >= percent / 100)
        const query = new Set(wordsOf(candidateQueryOf(one, percent / 100)))
        expect(wordsOf(other).some((word) => query.has(word))).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })
})

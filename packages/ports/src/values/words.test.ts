import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { wordsOf } from './words.ts'

describe('wordsOf', () => {
  it.each([
    ['Ünïcode CAFÉ, straße!', ['unicode', 'cafe', 'straße']],
    ["doesn't cost $1,000.50", ['doesn', 't', 'cost', '1', '000', '50']],
    ['a"b* AND (c) NEAR/2 col:d ^e -f', ['a', 'b', 'and', 'c', 'near', '2', 'col', 'd', 'e', 'f']],
    ['हिन्दी में', ['हिन्दी', 'में']],
    ['한국어', ['한국어']],
    ['東京駅 v2', ['東', '東京', '京', '京駅', '駅', 'v2']],
    ['東京2026', ['東', '東京', '京', '2026']],
    ['ﬁne ①', ['fine', '1']],
    ['', []],
    ['—…!?', []],
  ])('splits %j into %j', (text, words) => {
    expect(wordsOf(text)).toEqual(words)
  })

  it('is independent of Unicode composition and idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const words = wordsOf(text)
        expect(wordsOf(text.normalize('NFD'))).toEqual(words)
        for (const word of words) expect(wordsOf(word)).toContain(word)
      }),
    )
  })
})

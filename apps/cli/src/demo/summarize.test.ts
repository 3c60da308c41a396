import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { summarize } from './summarize.ts'

/** From "On the Origin of Species" (1859), chapter 3: public domain. */
const DARWIN = `
We will now discuss in a little more detail the struggle for existence. In my future work this subject shall be treated,
as it well deserves, at much greater length. The elder De Candolle and Lyell have largely and philosophically shown that
all organic beings are exposed to severe competition. Nothing is easier than to admit in words the truth of the universal
struggle for life, or more difficult, at least I have found it so, than constantly to bear this conclusion in mind. Yet
unless it be thoroughly engrained in the mind, I am convinced that the whole economy of nature, with every fact on
distribution, rarity, abundance, extinction, and variation, will be dimly seen or quite misunderstood.

A struggle for existence inevitably follows from the high rate at which all organic beings tend to increase. Every being,
which during its natural lifetime produces several eggs or seeds, must suffer destruction during some period of its life.
Hence, as more individuals are produced than can possibly survive, there must in every case be a struggle for existence,
either one individual with another of the same species, or with the individuals of distinct species, or with the physical
conditions of life. It rained on Tuesday.
`

describe('summarize', () => {
  it('finds the top terms and the sentences that contain them', () => {
    const { chosen, topTerms, words, sentenceCount } = summarize(DARWIN, 2)

    expect(topTerms.slice(0, 4).map(({ term }) => term)).toEqual(
      expect.arrayContaining(['struggle', 'existence', 'life']),
    )
    expect(chosen.map(({ text }) => text).join(' ')).toContain('struggle for existence')
    expect(chosen.map(({ text }) => text)).not.toContain('It rained on Tuesday.')
    expect(sentenceCount).toBe(9)
    expect(words).toBe(DARWIN.match(/[A-Za-z]+/g)?.length)
  })

  it('picks distinct sentences of the source in order', () => {
    const readme = readFileSync(new URL('../../../../packages/platform-node/README.md', import.meta.url), 'utf8')
    for (const source of [DARWIN, readme]) {
      const { chosen } = summarize(source, 4)
      const starts = chosen.map(({ start }) => start)

      expect(chosen.every(({ text }) => source.includes(text))).toBe(true)
      expect(starts).toEqual([...new Set(starts)].sort((a, b) => a - b))
    }
  })

  it('returns every sentence if the text has fewer than requested', () => {
    expect(summarize('Only one.', 5).chosen).toHaveLength(1)
    expect(summarize('', 5)).toEqual({ chosen: [], sentenceCount: 0, words: 0, topTerms: [] })
  })

  it('counts a plural as its singular', () => {
    expect(summarize('The agent waits. Agents wait. An agent ends.', 1).topTerms[0]).toEqual({
      term: 'agent',
      count: 3,
    })
  })

  it('prefers a sentence on a new topic', () => {
    const source = 'Cats chase mice daily. Cats chase mice nightly. Dogs guard houses daily. Birds sing.'

    expect(summarize(source, 2).chosen.map(({ text }) => text)).toEqual([
      'Cats chase mice daily.',
      'Dogs guard houses daily.',
    ])
  })

  it('picks exactly the requested number of sentences if the text has enough', () => {
    const words = fc.constantFrom('Server', 'agent', 'run', 'the', 'of', 'durable', 'log')
    const sentence = fc.array(words, { minLength: 1, maxLength: 8 }).map((parts) => `X${parts.join(' ')}. `)

    fc.assert(
      fc.property(fc.array(sentence, { maxLength: 20 }), fc.integer({ min: 1, max: 10 }), (sentences, wanted) => {
        const { chosen, sentenceCount } = summarize(sentences.join(''), wanted)

        expect(chosen).toHaveLength(Math.min(wanted, sentenceCount))
      }),
    )
  })
})

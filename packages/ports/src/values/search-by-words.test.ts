import { describe, expect, it } from 'vitest'
import type { EpochMs } from '../clock.ts'
import { type SearchedText, searchByWords } from './search-by-words.ts'
import { wordsOf } from './words.ts'

const textOf = (id: number, text: string): SearchedText => ({ id: `t${id}`, text, createdAt: id as EpochMs })

/** Searches the texts, of which only those that start with `mine` match the filter. Newest last. */
function search(texts: readonly string[], query: string) {
  const all = texts.map((text, id) => textOf(id, text)).reverse()
  const read: string[] = []
  const having = (word: string) => all.filter(({ text }) => wordsOf(text).includes(word))
  const found = searchByWords<SearchedText>(
    {
      having,
      matching: (words) =>
        all.filter((one) => one.text.startsWith('mine') && words.some((word) => having(word).includes(one))),
      *texts(keys) {
        for (const key of keys) {
          read.push(key.id)
          yield key
        }
      },
    },
    query,
    10,
  )
  return { found, read }
}

describe('searchByWords', () => {
  it('ranks by the texts that match the filter alone, ties newest first', () => {
    const mine = ['mine vexilar', 'mine quorlim']

    expect(search(mine, 'vexilar quorlim').found).toEqual(['t1', 't0'])
    const others = ['theirs quorlim', 'theirs quorlim', 'theirs quorlim', 'theirs vexilar and much more']
    expect(search([...mine, ...others], 'vexilar quorlim').found).toEqual(['t1', 't0'])
  })

  it('ranks a rare word before a common one', () => {
    expect(search(['mine rare', 'mine common', 'mine common', 'mine common'], 'common rare').found[0]).toBe('t0')
  })

  it('reads at most 4 MiB of texts, those with the rarest words first', () => {
    const long = `mine common ${'x'.repeat(1_100_000)}`
    const { read, found } = search(['mine rare', ...Array.from({ length: 9 }, () => long)], 'common rare')

    expect(read).toEqual(['t0', 't9', 't8', 't7', 't6'])
    expect(found).toHaveLength(5)
  })
})

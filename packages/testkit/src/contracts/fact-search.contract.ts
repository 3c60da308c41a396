import { EVERY_ROW, type FactFilter, type FactRecord, MAX_SEARCH_CANDIDATES, type Storage } from '@perdure/ports'
import { expect } from 'vitest'
import { aFact } from '../memory-builders.ts'
import { commit } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const ALL: FactFilter = { now: at(0), visibility: EVERY_ROW }

/** Inserts facts by id, in this order of creation. */
const insertTexts = (storage: Storage, texts: Readonly<Record<string, string>>) =>
  commit(
    storage,
    ...Object.entries(texts).map(
      ([id, text], index) => ({ type: 'fact.insert', fact: aFact({ id, text, createdAt: at(index) }) }) as const,
    ),
  )

const hits = async (storage: Storage, text: string, limit = 100) =>
  (await storage.facts.search(text, ALL, limit)).map(({ id }) => id)

const embed = (storage: Storage, id: string, vector?: readonly number[], embedder = 'e') =>
  commit(storage, { type: 'fact.embed', id, revision: 1, embedder, vector })

const near = async (
  storage: Storage,
  vector: readonly number[],
  over: { limit?: number; candidates?: number } = {},
) => {
  const { limit = 10, candidates = 100 } = over
  const found = await storage.facts.nearest({ vector, embedder: 'e', candidates }, ALL, limit)
  return found.map(({ id }) => id)
}

/** Facts without the searched words: word rarity affects the ranking only if there are other facts. */
const NOISE = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`noise-${index}`, `filler number ${index}`]))

const wordCases: readonly ContractCase[] = [
  {
    title: 'finds facts that contain at least one of the words, ignoring case and accents',
    async run(storage) {
      await insertTexts(storage, { a: 'Café ÜBER alles', b: 'nothing here', c: 'straße und cafe', d: '東京駅で会う' })

      expect((await hits(storage, 'CAFE')).sort()).toEqual(['a', 'c'])
      expect((await hits(storage, 'uber strasse')).sort()).toEqual(['a'])
      expect((await hits(storage, 'über STRASSE straße')).sort()).toEqual(['a', 'c'])
      expect(await hits(storage, '東京')).toEqual(['d'])
      expect(await hits(storage, 'caf')).toEqual([])
      expect(await hits(storage, 'harbour')).toEqual([])
    },
  },
  {
    title: 'treats query syntax in a search text as plain text',
    async run(storage) {
      await insertTexts(storage, { a: 'plain words', b: 'or not and near', c: 'words: column', d: "o'neill said" })
      const odd = [
        '"',
        "'",
        '*',
        'wor*',
        'plain OR',
        '(',
        ')',
        'NEAR(',
        '^plain',
        'words:',
        '-plain',
        '+',
        'a"b',
        '\\',
        '%',
      ]

      for (const text of odd) await expect(hits(storage, text), text).resolves.toBeInstanceOf(Array)
      expect(await hits(storage, 'wor*')).toEqual([])
      expect(await hits(storage, 'NOT')).toEqual(['b'])
      expect((await hits(storage, 'words:plain')).sort()).toEqual(['a', 'c'])
      expect(await hits(storage, "O'NEILL")).toEqual(['d'])
      expect(await hits(storage, 'x" OR "plain')).toContain('a')
    },
  },
  {
    title: 'finds nothing for a text without words',
    async run(storage) {
      await insertTexts(storage, { a: 'something' })

      for (const text of ['', ' ', '!?', '🚢', '\u0000']) expect(await hits(storage, text)).toEqual([])
    },
  },
  {
    title: 'ranks more matching words, rarer words and shorter texts first',
    async run(storage) {
      await insertTexts(storage, {
        ...NOISE,
        one: 'a lighthouse stands there quietly',
        two: 'a lighthouse keeper lives there',
        common: 'the filler is quite ordinary today',
        long: 'the anchor lies among many other things that nobody needs or wants to see in this place at all',
        short: 'the anchor lies here',
      })

      expect((await hits(storage, 'lighthouse keeper')).slice(0, 2)).toEqual(['two', 'one'])
      expect((await hits(storage, 'filler lighthouse')).slice(0, 2).sort()).toEqual(['one', 'two'])
      expect(await hits(storage, 'anchor')).toEqual(['short', 'long'])
    },
  },
  {
    title: 'ranks facts by the matching facts alone, whatever other owners and namespaces contain',
    async run(storage) {
      const mine = ['probe vexilar', 'probe quorlim', ...Array.from({ length: 20 }, (_, n) => `filler number ${n}`)]
      await insertTexts(storage, Object.fromEntries(mine.map((text, n) => [`mine-${n}`, text])))
      const seen: FactFilter = { ...ALL, namespace: 'default', visibility: { owner: 'alice' } }
      const search = async () => (await storage.facts.search('vexilar quorlim', seen, 9)).map(({ id }) => id)
      const others = (from: number, count: number, over: Partial<FactRecord>) =>
        commit(
          storage,
          ...Array.from({ length: count }, (_, n) => {
            const id = `other-${from + n}`
            return { type: 'fact.insert', fact: aFact({ id, createdAt: at(100 + from + n), ...over }) } as const
          }),
        )

      const alone = await search()
      expect(alone).toEqual(['mine-1', 'mine-0'])
      await others(0, 4, { owner: 'bob', text: 'a private quorlim' })
      expect(await search()).toEqual(alone)
      await others(10, 8, { owner: 'bob', text: `vexilar ${'and many other words '.repeat(9)}` })
      expect(await search()).toEqual(alone)
      await others(20, 8, { namespace: 'work', text: 'quorlim' })
      expect(await search()).toEqual(alone)
      await others(30, 8, { expiresAt: at(0), text: 'quorlim' })
      expect(await search()).toEqual(alone)
    },
  },
  {
    title: 'finds the rarest words first and then the newest facts when too many facts match',
    async run(storage) {
      const count = MAX_SEARCH_CANDIDATES + 10
      for (let from = 0; from < count; from += 1_000) {
        const size = Math.min(1_000, count - from)
        const texts = Array.from(
          { length: size },
          (_, n) => [from + n, `common ${from + n === 3 ? 'rare' : 'usual'}`] as const,
        )
        await commit(
          storage,
          ...texts.map(([n, text]) => {
            return { type: 'fact.insert', fact: aFact({ id: `fact-${n}`, text, createdAt: at(n) }) } as const
          }),
        )
      }

      const found = await hits(storage, 'common rare', 3)
      expect(found).toEqual(['fact-3', `fact-${count - 1}`, `fact-${count - 2}`])
      expect(await hits(storage, 'common', count)).toHaveLength(MAX_SEARCH_CANDIDATES)
    },
  },
  {
    title: 'returns at most as many facts as the limit, in the same order every time',
    async run(storage) {
      await insertTexts(storage, NOISE)

      const first = await hits(storage, 'filler', 7)
      expect(first).toHaveLength(7)
      expect(await hits(storage, 'filler', 7)).toEqual(first)
      expect(await hits(storage, 'filler', 20)).toEqual(expect.arrayContaining(first))
    },
  },
  {
    title: 'searches the current text of a fact and no deleted facts',
    async run(storage) {
      await insertTexts(storage, { a: 'old words', b: 'other words' })
      await commit(storage, { type: 'fact.replace', fact: aFact({ id: 'a', text: 'new words', revision: 2 }) })

      expect(await hits(storage, 'old')).toEqual([])
      expect(await hits(storage, 'new')).toEqual(['a'])
      await commit(storage, { type: 'fact.delete', id: 'a', revision: 2 })
      expect(await hits(storage, 'new words')).toEqual(['b'])
      await insertTexts(storage, { c: 'fresh' })
      expect(await hits(storage, 'new old words')).toEqual(['b'])
    },
  },
  {
    title: 'uses at most 64 different words of a search text',
    async run(storage) {
      await insertTexts(storage, { last: 'word64', first: 'word0', repeated: 'again' })
      const words = Array.from({ length: 65 }, (_, index) => `word${index}`).join(' ')

      expect(await hits(storage, words)).toEqual(['first'])
      expect(await hits(storage, `${'word0 '.repeat(70)} again`)).toEqual(expect.arrayContaining(['first', 'repeated']))
    },
  },
]

const vectorCases: readonly ContractCase[] = [
  {
    title: 'finds only vectors of the given embedder, nearest first, and none that point away',
    async run(storage) {
      await insertTexts(storage, { a: 'a', b: 'b', c: 'c', d: 'd', none: 'e' })
      await embed(storage, 'a', [1, 0])
      await embed(storage, 'b', [0.6, 0.8])
      await embed(storage, 'c', [-1, 0])
      await embed(storage, 'd', [1, 0], 'other')

      expect(await near(storage, [1, 0])).toEqual(['a', 'b'])
      expect(await near(storage, [0, 1])).toEqual(['b'])
      expect(await near(storage, [1, 0], { limit: 1 })).toEqual(['a'])
    },
  },
  {
    title: 'compares only the newest facts when there are more than the candidate limit',
    async run(storage) {
      await insertTexts(storage, { old: 'a', middle: 'b', recent: 'c' })
      await embed(storage, 'old', [1, 0])
      await embed(storage, 'middle', [0.6, 0.8])
      await embed(storage, 'recent', [0.8, 0.6])

      expect(await near(storage, [1, 0], { candidates: 2 })).toEqual(['recent', 'middle'])
    },
  },
  {
    title: 'keeps a vector until the text of its fact changes and ignores a vector for an old revision',
    async run(storage) {
      await insertTexts(storage, { a: 'same' })
      const late = { type: 'fact.embed', id: 'a', revision: 2, embedder: 'e', vector: [1] } as const
      expect((await commit(storage, late)).counts).toEqual([0])
      await embed(storage, 'a', [1])

      await commit(storage, { type: 'fact.replace', fact: aFact({ id: 'a', text: 'same', tags: ['x'], revision: 2 }) })
      expect(await near(storage, [1])).toEqual(['a'])
      await commit(storage, { type: 'fact.replace', fact: aFact({ id: 'a', text: 'another', revision: 3 }) })
      expect(await near(storage, [1])).toEqual([])
    },
  },
  {
    title: 'replaces a vector and deletes those of every other embedder',
    async run(storage) {
      await insertTexts(storage, { a: 'a', b: 'b', c: 'c' })
      await embed(storage, 'a', [0, 1])
      await embed(storage, 'a', [1, 0])
      await embed(storage, 'b', [1, 0], 'other')
      await embed(storage, 'c', undefined, 'other')
      expect(await near(storage, [1, 0])).toEqual(['a'])

      const { counts } = await commit(storage, { type: 'fact.keep-vectors', embedder: 'e' })

      expect(counts).toEqual([2])
      expect(await near(storage, [1, 0])).toEqual(['a'])
      expect((await storage.factUpkeep.unembedded(9)).map(({ id }) => id)).toEqual(['b', 'c'])
    },
  },
]

export const factSearchCases: readonly ContractCase[] = [...wordCases, ...vectorCases]

import type { EpochMs } from '../clock.ts'
import { wordsOf } from './words.ts'

/** A text that a search may find. */
export interface SearchedText {
  readonly id: string
  readonly text: string
  readonly createdAt: EpochMs
}

/** Maximum number of texts that a search ranks by BM25. */
export const MAX_SEARCH_CANDIDATES = 1_000
/** Maximum length of the texts that a search ranks, in all; bounds its time. */
const MAX_CHARACTERS = 4_194_304
const MAX_WORDS = 64

/** Weight of repeated words, and penalty for long texts. */
const SATURATION = 1.2
const LENGTH_WEIGHT = 0.75

/** The index of an adapter. A key identifies a text. */
export interface WordIndex<Key> {
  /** The texts that contain at least one of the words and match the filter of the search, newest first. */
  matching(words: readonly string[]): readonly Key[]
  /** The texts that contain the word, whether or not they match the filter. */
  having(word: string): Iterable<Key>
  /** The texts with these keys, in this order. */
  texts(keys: readonly Key[]): Iterable<SearchedText>
}

/**
 * The ids of the texts that contain at least one of the words of `text`, best first by BM25; ties by creation, newest
 * first. The rarity of words and the average length are those of the matching texts alone, so that the order tells
 * nothing about any other text. Every adapter must rank with this function.
 */
export function searchByWords<Key>(index: WordIndex<Key>, text: string, limit: number): readonly string[] {
  const words = [...new Set(wordsOf(text))].slice(0, MAX_WORDS)
  if (words.length === 0) return []
  const { keys, rarities } = candidatesFor(index, words)
  return rank(boundedTexts(index.texts(keys)), rarities).slice(0, limit)
}

/** The texts whose words are rarest in all; newest first among texts with the same words. */
function candidatesFor<Key>(index: WordIndex<Key>, words: readonly string[]) {
  const scores = new Map(index.matching(words).map((key) => [key, 0]))
  const rarities = new Map<string, number>()
  for (const word of words) {
    const having = [...index.having(word)].filter((key) => scores.has(key))
    const rarity = rarityOf(having.length, scores.size)
    rarities.set(word, rarity)
    for (const key of having) scores.set(key, (scores.get(key) ?? 0) + rarity)
  }
  const best = [...scores].sort(([, a], [, b]) => b - a).slice(0, MAX_SEARCH_CANDIDATES)
  return { keys: best.map(([key]) => key), rarities }
}

/** Positive for every word, and greater for a rare one. */
const rarityOf = (having: number, all: number): number => Math.log(1 + (all - having + 0.5) / (having + 0.5))

function boundedTexts(texts: Iterable<SearchedText>): readonly SearchedText[] {
  const taken: SearchedText[] = []
  let characters = 0
  for (const one of texts) {
    taken.push(one)
    characters += one.text.length
    if (characters >= MAX_CHARACTERS) break
  }
  return taken
}

interface Counted {
  readonly source: SearchedText
  readonly length: number
  readonly counts: ReadonlyMap<string, number>
}

function rank(texts: readonly SearchedText[], rarities: ReadonlyMap<string, number>): readonly string[] {
  const counted = texts.map((source) => countWords(source, rarities))
  const averageLength = counted.reduce((sum, { length }) => sum + length, 0) / Math.max(1, counted.length)

  const scoreOf = ({ counts, length }: Counted): number => {
    const norm = SATURATION * (1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * length) / averageLength)
    let score = 0
    for (const [word, count] of counts) score += ((rarities.get(word) ?? 0) * count * (SATURATION + 1)) / (count + norm)
    return score
  }

  return counted
    .map((one) => ({ source: one.source, score: scoreOf(one) }))
    .sort((a, b) => b.score - a.score || byNewest(a.source, b.source))
    .map(({ source }) => source.id)
}

const byNewest = (a: SearchedText, b: SearchedText): number => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)

function countWords(source: SearchedText, wanted: ReadonlyMap<string, number>): Counted {
  const words = wordsOf(source.text)
  const counts = new Map<string, number>()
  for (const word of words) if (wanted.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1)
  return { source, length: words.length, counts }
}

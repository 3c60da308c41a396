import { type FactRecord, wordsOf } from '@perdure/ports'

/** Weight of repeated words, and penalty for long texts. */
const SATURATION = 1.2
const LENGTH_WEIGHT = 0.75
const LEAST_RARITY = 1e-6

interface Document {
  readonly fact: FactRecord
  readonly length: number
  readonly counts: ReadonlyMap<string, number>
}

/** Facts that contain at least one of the words, best first by BM25; ties by creation, newest first. */
export function rankByWords(facts: readonly FactRecord[], words: readonly string[]): readonly FactRecord[] {
  const documents = facts.map(toDocument)
  const averageLength = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length)
  const rarities = new Map(words.map((word) => [word, rarityOf(word, documents)]))

  const scoreOf = ({ counts, length }: Document): number => {
    const norm = SATURATION * (1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * length) / averageLength)
    let score = 0
    for (const [word, rarity] of rarities) {
      const count = counts.get(word) ?? 0
      score += (rarity * (count * (SATURATION + 1))) / (count + norm)
    }
    return score
  }

  return documents
    .filter(({ counts }) => words.some((word) => counts.has(word)))
    .map((document) => ({ fact: document.fact, score: scoreOf(document) }))
    .sort((a, b) => b.score - a.score || b.fact.createdAt - a.fact.createdAt || (a.fact.id < b.fact.id ? 1 : -1))
    .map(({ fact }) => fact)
}

function toDocument(fact: FactRecord): Document {
  const words = wordsOf(fact.text)
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return { fact, length: words.length, counts }
}

function rarityOf(word: string, documents: readonly Document[]): number {
  const having = documents.filter(({ counts }) => counts.has(word)).length
  return Math.max(LEAST_RARITY, Math.log((documents.length - having + 0.5) / (having + 0.5)))
}

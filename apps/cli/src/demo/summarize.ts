import { type Sentence, splitSentences } from './split-sentences.ts'
import { STOP_WORDS } from './stop-words.ts'

export interface Summary {
  /** Sentences of the source, verbatim and in order. */
  readonly chosen: readonly Sentence[]
  readonly sentenceCount: number
  readonly words: number
  readonly topTerms: readonly { readonly term: string; readonly count: number }[]
}

const WORD = /[\p{L}\p{N}]+(?:['’.-][\p{L}\p{N}]+)*/gu
const MAX_TERMS = 8
/** Sentences with fewer terms score lower. */
const FULL_LENGTH = 12
const MIN_TERMS = 4
const LONG_SENTENCE = 320 // characters

/**
 * Picks the most informative sentences: frequent terms raise the score, early sentences score higher, and terms of
 * sentences already picked count less.
 */
export function summarize(source: string, wanted: number): Summary {
  const sentences = splitSentences(source)
  const frequency = countTerms(sentences.flatMap(({ text }) => termsOf(text)))
  return {
    chosen: choose(sentences, frequency, wanted).map((index) => sentences[index] as Sentence),
    sentenceCount: sentences.length,
    words: source.match(WORD)?.length ?? 0,
    topTerms: [...frequency.values()]
      .sort((a, b) => b.count - a.count || (a.term < b.term ? -1 : 1))
      .slice(0, MAX_TERMS)
      .map(({ term, count }) => ({ term, count })),
  }
}

interface TermCount {
  readonly term: string // its first spelling, in lower case
  readonly count: number
}

type Frequency = ReadonlyMap<string, TermCount>

const termsOf = (text: string): readonly string[] =>
  (text.match(WORD) ?? [])
    .map((word) => word.toLowerCase().replaceAll('’', "'"))
    .filter((word) => word.length > 2 && !STOP_WORDS.has(word) && !/^\d+$/.test(word))

function countTerms(terms: readonly string[]): Frequency {
  const counts = new Map<string, TermCount>()
  for (const term of terms) {
    const known = counts.get(stemOf(term))
    counts.set(stemOf(term), { term: known?.term ?? term, count: (known?.count ?? 0) + 1 })
  }
  return counts
}

/** Strips the plural s of English words. */
const stemOf = (term: string): string => (/[^siu]s$/.test(term) ? term.slice(0, -1) : term)

function choose(sentences: readonly Sentence[], frequency: Frequency, wanted: number): readonly number[] {
  const covered = new Map<string, number>()
  const stems = sentences.map(({ text }) => [...new Set(termsOf(text).map(stemOf))])
  const weights = sentences.map(({ text }, index) => positionWeight(index, sentences.length) * formWeight(text))
  const chosen = new Set<number>()

  while (chosen.size < Math.min(wanted, sentences.length)) {
    let best = { index: -1, score: -1 }
    for (const index of sentences.keys()) {
      const score = (weights[index] ?? 0) * termWeight(stems[index] ?? [], frequency, covered)
      if (score > best.score && !chosen.has(index)) best = { index, score }
    }
    chosen.add(best.index)
    for (const stem of stems[best.index] ?? []) covered.set(stem, (covered.get(stem) ?? 0) + 1)
  }
  return [...chosen].sort((a, b) => a - b)
}

/** Mean weight of the terms, so that length alone does not raise the score; fragments with few terms are penalized. */
function termWeight(stems: readonly string[], frequency: Frequency, covered: ReadonlyMap<string, number>): number {
  let total = 0
  for (const stem of stems) total += Math.sqrt(frequency.get(stem)?.count ?? 0) / 3 ** (covered.get(stem) ?? 0)
  const fragment = stems.length < MIN_TERMS ? 0.4 : 1
  return (fragment * total) / Math.max(stems.length, Math.sqrt(FULL_LENGTH * stems.length), 1)
}

/** Penalizes sentences that only introduce what follows, and very long ones. */
const formWeight = (text: string): number => (/[:：]$/.test(text) ? 0.4 : text.length > LONG_SENTENCE ? 0.7 : 1)

/**
 * The first sentence weighs 1.5, and the weight falls towards 1. The last sentence weighs 1.1, because it often
 * concludes the text.
 */
function positionWeight(index: number, length: number): number {
  if (length > 3 && index === length - 1) return 1.1
  return 1 + 0.5 / (1 + index)
}

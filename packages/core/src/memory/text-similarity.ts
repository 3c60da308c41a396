import { type Digest, wordsOf } from '@perdure/ports'

/** Words that do not change the meaning of a statement. */
const FILLERS: ReadonlySet<string> = new Set('the an please just simply basically actually also'.split(' '))

const QUOTES: ReadonlySet<string> = new Set('"\'“”‘’«»')
const SENTENCE_END: ReadonlySet<string> = new Set('.,;:!…')

/**
 * A digest of the statement in a text: texts with the same fingerprint are duplicates. Covers the words in order and in
 * lower case, without filler words, quotes around a word and punctuation at its end. Acronyms (US), signs (C++, -5, <)
 * and question marks are kept unchanged, because they can distinguish two statements.
 */
export function fingerprintOf(text: string, digest: Pick<Digest, 'sha256'>): string {
  const words = text.normalize('NFC').trim().split(/\s+/u).map(plainWord)
  const significant = words.filter((word) => word !== '' && !FILLERS.has(word))
  return digest.sha256((significant.length > 0 ? significant : words).join(' '))
}

/** The Jaccard index of the words of two texts: the fraction of their distinct words that occur in both texts. */
export function similarityOf(text: string, other: string): number {
  const words = new Set(wordsOf(text))
  const others = new Set(wordsOf(other))
  const shared = [...words].filter((word) => others.has(word)).length
  const union = words.size + others.size - shared
  return union === 0 ? 0 : shared / union
}

/**
 * A search query that finds every text that may reach this similarity. The query has one word more than such a text can
 * lack, so the text contains at least one of the words. Uses the longest words, because they are usually rare.
 */
export function candidateQueryOf(text: string, threshold: number): string {
  const words = [...new Set(wordsOf(text))]
  const needed = words.length - Math.ceil(threshold * words.length) + 1
  return words
    .sort((a, b) => b.length - a.length)
    .slice(0, needed)
    .join(' ')
}

function plainWord(word: string): string {
  const stripped = withoutQuotes(withoutEnd(withoutQuotes(word.replaceAll('’', "'")), SENTENCE_END))
  const isAcronym = /^\p{Lu}{2,}$/u.test(stripped)
  return isAcronym ? stripped : stripped.toLowerCase()
}

function withoutQuotes(word: string): string {
  let start = 0
  while (QUOTES.has(word.charAt(start))) start++
  return withoutEnd(word.slice(start), QUOTES)
}

/** Uses a loop, because a regular expression that is anchored at the end would take quadratic time. */
function withoutEnd(word: string, marks: ReadonlySet<string>): string {
  let end = word.length
  while (marks.has(word.charAt(end - 1))) end--
  return word.slice(0, end)
}

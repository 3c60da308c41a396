import { type Digest, wordsOf } from '@perdure/ports'

/** Words that change nothing of what a text says. */
const FILLERS: ReadonlySet<string> = new Set('the an please just simply basically actually also'.split(' '))

const QUOTES: ReadonlySet<string> = new Set('"\'“”‘’«»')
const SENTENCE_END: ReadonlySet<string> = new Set('.,;:!…')

/**
 * What a text says, so that two texts with the same answer are duplicates: its words in their order, without filler
 * words, quotes around a word and punctuation at its end, in lower case. Words in capitals (US), signs (C++, -5, <) and
 * question marks stay as they are, for they may tell two statements apart.
 */
export function fingerprintOf(text: string, digest: Pick<Digest, 'sha256'>): string {
  const words = text.normalize('NFC').trim().split(/\s+/u).map(plainWord)
  const telling = words.filter((word) => word !== '' && !FILLERS.has(word))
  return digest.sha256((telling.length > 0 ? telling : words).join(' '))
}

/** Share of the different words of two texts that both have, from 0 to 1. */
export function likeness(text: string, other: string): number {
  const words = new Set(wordsOf(text))
  const others = new Set(wordsOf(other))
  const shared = [...words].filter((word) => others.has(word)).length
  const union = words.size + others.size - shared
  return union === 0 ? 0 : shared / union
}

/**
 * Words of which a text must have at least one to reach this likeness: a text may miss fewer words of the other than are
 * named here. The longest are named, for they are rare.
 */
export function probeOf(text: string, threshold: number): string {
  const words = [...new Set(wordsOf(text))]
  const needed = words.length - Math.ceil(threshold * words.length) + 1
  return words
    .sort((a, b) => b.length - a.length)
    .slice(0, needed)
    .join(' ')
}

function plainWord(word: string): string {
  const bare = withoutQuotes(withoutEnd(withoutQuotes(word.replaceAll('’', "'")), SENTENCE_END))
  const isAcronym = /^\p{Lu}{2,}$/u.test(bare)
  return isAcronym ? bare : bare.toLowerCase()
}

function withoutQuotes(word: string): string {
  let start = 0
  while (QUOTES.has(word.charAt(start))) start++
  return withoutEnd(word.slice(start), QUOTES)
}

/** By steps from the end: a pattern would start anew at each of them. */
function withoutEnd(word: string, marks: ReadonlySet<string>): string {
  let end = word.length
  while (marks.has(word.charAt(end - 1))) end--
  return word.slice(0, end)
}

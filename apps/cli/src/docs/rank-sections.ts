import { wordsOf } from '@perdure/ports'
import type { Section } from './split-sections.ts'

/** Returns the sections that contain every word, or else those that contain most of them, best first. */
export function rankSections(sections: readonly Section[], query: readonly string[]): readonly Section[] {
  const words = wantedWords(query)
  const counted = sections.map((section) => countsIn(section))
  const sizes = sections.map(({ text }) => text.length)
  const average = sizes.reduce((sum, size) => sum + size, 0) / Math.max(1, sizes.length)
  const weights = words.map((word) => {
    const having = counted.filter((counts) => countOf(counts, word) > 0).length
    return Math.log(1 + sections.length / (1 + having))
  })
  const scored = counted.map((counts, index) => {
    const found = words.map((word) => countOf(counts, word))
    const half = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * ((sizes[index] ?? 0) / average))
    const score = found.reduce((sum, count, at) => sum + (weights[at] ?? 0) * (count / (count + half)), 0)
    return { section: sections[index], matched: found.filter((count) => count > 0).length, score }
  })
  const most = Math.max(0, ...scored.map(({ matched }) => matched))
  if (most === 0) return []
  return scored
    .filter(({ matched }) => matched === most)
    .toSorted((a, b) => b.score - a.score)
    .flatMap(({ section }) => section ?? [])
}

/** A word in a heading counts as often as this many in the text; the first occurrences count most. */
const HEADING_WEIGHT = 8
const TITLE_WEIGHT = 4
const SATURATION = 4
/** How much the words of a long section count less; 0 would ignore the length. */
const LENGTH_SHARE = 0.7

/** The words of a query without those that every section has, unless there are no others. */
function wantedWords(query: readonly string[]): readonly string[] {
  const words = [...new Set(query.flatMap(searchWords))]
  const telling = words.filter((word) => !COMMON.has(word))
  return [...new Set((telling.length > 0 ? telling : words).map(stemOf))]
}

const COMMON = new Set(
  'a an and are as be by can do for from how i if in is it my of on or the to use what with'.split(' '),
)

type Counts = ReadonlyMap<string, number>

function countsIn({ title, section, text }: Section): Counts {
  const counts = new Map<string, number>()
  const add = (source: string, weight: number) => {
    for (const word of searchWords(source)) {
      const stem = stemOf(word)
      counts.set(stem, (counts.get(stem) ?? 0) + weight)
    }
  }
  add(text, 1)
  add(section, HEADING_WEIGHT)
  if (title !== section) add(title, TITLE_WEIGHT)
  return counts
}

const countOf = (counts: Counts, word: string): number => counts.get(word) ?? 0

/** Words, and the parts of names such as `waitForEvent` and `onCrash`. */
const searchWords = (text: string): readonly string[] => [
  ...wordsOf(text),
  ...text
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.search(INNER_CAPITAL) >= 0)
    .flatMap((word) => wordsOf(word.replace(INNER_CAPITAL, '$1 $2'))),
]

const INNER_CAPITAL = /(\p{Ll})(\p{Lu})/gu

/** Cuts the ends of English words that do not change their meaning. */
function stemOf(word: string): string {
  const singular = word.length < 4 ? word : word.replace(/ies$/, 'y').replace(/(?<=[^s])s$/, '')
  return singular.length < 5 ? singular : singular.replace(/(?:ing|ed|e)$/, '')
}

import { type Embedder, wordsOf } from '@perdure/ports'

/**
 * An embedder without a model: every word falls into a place of the vector by its letters, so that texts with common
 * words are near each other. The same text always has the same vector.
 */
export function createHashEmbedder({ dimensions = 64, synonyms = {} }: HashEmbedderOptions = {}): Embedder {
  const meaningOf = (word: string) => synonyms[word] ?? word
  const vectorOf = (text: string) => {
    const vector = Array.from({ length: dimensions }, () => 0)
    for (const word of wordsOf(text)) {
      const place = hashOf(meaningOf(word)) % dimensions
      vector[place] = (vector[place] ?? 0) + 1
    }
    return vector
  }
  return { name: `hash-${dimensions}`, dimensions, embed: async (texts) => texts.map(vectorOf) }
}

export interface HashEmbedderOptions {
  readonly dimensions?: number
  /** Words that stand for another one: what a model would know. */
  readonly synonyms?: Readonly<Record<string, string>>
}

/** FNV-1a. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5
  for (const character of word) hash = Math.imul(hash ^ (character.codePointAt(0) as number), 0x01000193) >>> 0
  return hash
}

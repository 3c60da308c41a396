import { type Embedder, wordsOf } from '@perdure/ports'

/**
 * An embedder without a model: it hashes every word to an index of the vector, so texts that share words are close to
 * each other. The same text always has the same vector.
 */
export function createHashEmbedder({ dimensions = 64, synonyms = {} }: HashEmbedderOptions = {}): Embedder {
  const meaningOf = (word: string) => synonyms[word] ?? word
  const vectorOf = (text: string) => {
    const vector = Array.from({ length: dimensions }, () => 0)
    for (const word of wordsOf(text)) {
      const index = hashOf(meaningOf(word)) % dimensions
      vector[index] = (vector[index] ?? 0) + 1
    }
    return vector
  }
  return { name: `hash-${dimensions}`, dimensions, embed: async (texts) => texts.map(vectorOf) }
}

export interface HashEmbedderOptions {
  readonly dimensions?: number
  /** Maps a word to the word that is embedded in its place, to imitate a model that knows synonyms. */
  readonly synonyms?: Readonly<Record<string, string>>
}

/** FNV-1a. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5
  for (const character of word) hash = Math.imul(hash ^ (character.codePointAt(0) as number), 0x01000193) >>> 0
  return hash
}

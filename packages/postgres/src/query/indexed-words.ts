import { createHash } from 'node:crypto'
import { wordsOf } from '@perdure/ports'

/** An entry of an index has at most 2,700 bytes; a longer value is indexed by its hash. */
const MAX_LENGTH = 200

/** The value under which a text of any length is indexed. Equal for equal texts only. */
export const indexedValue = (text: string): string =>
  text.length > MAX_LENGTH ? `sha256:${createHash('sha256').update(text).digest('hex')}:${text.length}` : text

/** The different words of a text, as its index holds them. */
export const indexedWords = (text: string): readonly string[] => [...new Set(wordsOf(text).map(indexedValue))]

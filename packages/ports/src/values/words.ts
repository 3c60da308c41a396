const ACCENTS = /[\u0300-\u036f]/g
/** Scripts that do not separate words with spaces. */
const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}'
const IS_UNSPACED = new RegExp(`[${UNSPACED}]`, 'u')
const RUN = new RegExp(`[${UNSPACED}]+|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}])+`, 'gu')

/**
 * Splits a text into search words, in order: letters, digits and marks, lower-cased, without accents. Text in a script
 * without spaces yields its characters and pairs of adjacent characters. Every adapter must index and look up exactly
 * these words, so that searches match the same facts everywhere.
 */
export function wordsOf(text: string): readonly string[] {
  const folded = text.normalize('NFKD').replace(ACCENTS, '').normalize('NFC').toLowerCase()
  return (folded.match(RUN) ?? []).flatMap((run) => (IS_UNSPACED.test(run) ? piecesOf(run) : [run]))
}

function piecesOf(run: string): readonly string[] {
  const characters = Array.from(run)
  return characters.flatMap((character, index) => {
    const next = characters[index + 1]
    return next === undefined ? [character] : [character, character + next]
  })
}

const ACCENTS = /[\u0300-\u036f]/g
/** Characters of scripts that write without spaces between words. */
const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}'
const IS_UNSPACED = new RegExp(`[${UNSPACED}]`, 'u')
const RUN = new RegExp(`[${UNSPACED}]+|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}])+`, 'gu')

/**
 * The words of a text as search knows them, in their order: letters, digits and marks, in lower case, without accents.
 * Text in a script without spaces yields its characters and its pairs of neighbours. Every adapter indexes and looks up
 * exactly these, so that a text matches the same everywhere.
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

export interface DigestInput {
  readonly source: { readonly text: string } | { readonly file: string }
  /** How many sentences to extract; depends on the length of the text by default. */
  readonly sentences: number | undefined
}

const MAX_SENTENCES = 20

/**
 * Parses the input: a string, `{ text }` or `{ file }`, with an optional `sentences`. For an invalid input, returns a
 * text that describes the problem.
 */
export function parseDigestInput(input: unknown): DigestInput | string {
  if (typeof input === 'string') return checkText(input, undefined)
  if (typeof input !== 'object' || input === null) return EXPECTED
  const { text, file, sentences } = input as { text?: unknown; file?: unknown; sentences?: unknown }
  if (sentences !== undefined && !isCount(sentences))
    return `sentences must be a whole number from 1 to ${MAX_SENTENCES}`
  if (typeof text === 'string' && file === undefined) return checkText(text, sentences)
  if (typeof file === 'string' && text === undefined && file !== '') return { source: { file }, sentences }
  return EXPECTED
}

const EXPECTED = 'expected a string, { text } or { file }'

const checkText = (text: string, sentences: number | undefined): DigestInput | string =>
  text.trim() === '' ? 'the text is empty' : { source: { text }, sentences }

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_SENTENCES

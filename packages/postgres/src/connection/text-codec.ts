/**
 * PostgreSQL stores every character except U+0000. U+0001 introduces an escape: two characters stand for U+0000 or
 * U+0001. The escapes keep the order of texts by code point.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are escaped
const NEEDS_ESCAPE = /[\u0000\u0001]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are escapes
const ESCAPED = /\u0001([\u0001\u0002])/g

export const encodeText = (text: string): string =>
  text.includes('\u0000') || text.includes('\u0001')
    ? text.replace(NEEDS_ESCAPE, (character) => (character === '\u0000' ? '\u0001\u0001' : '\u0001\u0002'))
    : text

export const decodeText = (text: string): string =>
  text.includes('\u0001') ? text.replace(ESCAPED, (_, escaped) => (escaped === '\u0001' ? '\u0000' : '\u0001')) : text

/** Encodes a parameter: a text, or a list that may hold texts. */
export function encodeValue(value: unknown): unknown {
  if (typeof value === 'string') return encodeText(value)
  return Array.isArray(value) ? value.map(encodeValue) : value
}

/** How deep JSON may be nested, in requests and in states that patches build. */
export const MAX_JSON_DEPTH = 64

export interface JsonSize {
  /** Length of the JSON text in UTF-8, with a separator after each member and item. */
  readonly bytes: number
  /** 0 for a value without members or items. */
  readonly depth: number
}

/**
 * Measures a JSON value without printing it. Stops early, so that a value that contains one object many times costs no
 * more than the limits allow.
 *
 * @returns `undefined` when the value is larger than `maxBytes` or nested deeper than `maxDepth`
 */
export function jsonSize(value: unknown, maxBytes: number, maxDepth: number = MAX_JSON_DEPTH): JsonSize | undefined {
  let bytes = 0
  let depth = 0

  const count = (more: number): boolean => {
    bytes += more
    return bytes <= maxBytes
  }

  /** Spares a text that is too long from being printed. */
  const isShort = (one: unknown) => typeof one !== 'string' || one.length <= maxBytes - bytes

  const isWithin = (one: unknown, level: number): boolean => {
    if (typeof one !== 'object' || one === null) return isShort(one) && count(scalarBytes(one))
    if (level >= maxDepth || !count(2)) return false
    depth = Math.max(depth, level + 1)
    if (Array.isArray(one)) return one.every((item) => count(1) && isWithin(item, level + 1))
    for (const name of Object.keys(one)) {
      if (!count(memberBytes(name)) || !isWithin((one as Record<string, unknown>)[name], level + 1)) return false
    }
    return true
  }

  return isWithin(value, 0) ? { bytes, depth } : undefined
}

/** What a member adds to its object besides its value. */
export const memberBytes = (name: string): number => scalarBytes(name) + 2

/** What an item adds to its list besides its value. */
export const ITEM_BYTES = 1

/** A text is measured without being printed, which takes a fraction of the time. */
const scalarBytes = (value: unknown): number =>
  typeof value === 'string' ? textBytes(value) : (JSON.stringify(value) ?? 'null').length

function textBytes(text: string): number {
  let bytes = 2
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x80) {
      if (isPair(code, text.charCodeAt(at + 1))) at++
      bytes += wideBytes(code, text.charCodeAt(at))
    } else bytes += code >= 0x20 && code !== QUOTE && code !== BACKSLASH ? 1 : escapeBytes(code)
  }
  return bytes
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** Backspace, tab, line feed, form feed, carriage return, and the two above: JSON has a short escape for each. */
const SHORT_ESCAPES: ReadonlySet<number> = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d, QUOTE, BACKSLASH])
const LONG_ESCAPE = 6

const escapeBytes = (code: number): number => (SHORT_ESCAPES.has(code) ? 2 : LONG_ESCAPE)

const isPair = (code: number, next: number): boolean =>
  code >= 0xd800 && code < 0xdc00 && next >= 0xdc00 && next < 0xe000

/** `last`: the second code unit of a pair, otherwise the same. A surrogate without its other half is escaped. */
function wideBytes(code: number, last: number): number {
  if (code < 0x800) return 2
  if (code < 0xd800 || code >= 0xe000) return 3
  return code === last ? LONG_ESCAPE : 4
}

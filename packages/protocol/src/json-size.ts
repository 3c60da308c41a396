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

const scalarBytes = (value: unknown): number => {
  const text = JSON.stringify(value) ?? 'null'
  let bytes = text.length
  for (let at = 0; at < text.length; at++) bytes += moreBytes(text.charCodeAt(at))
  return bytes
}

/** How many more bytes than one a code unit takes in UTF-8. A surrogate has half of the four bytes of its pair. */
const moreBytes = (code: number): number => {
  if (code < 0x80) return 0
  return code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 1 : 2
}

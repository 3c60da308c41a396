const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const DEPTH_CHANGES: ReadonlyMap<number, number> = new Map([
  [0x7b, 1],
  [0x5b, 1],
  [0x7d, -1],
  [0x5d, -1],
])
const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])

/**
 * Finds a member of a JSON object whose value is a short text without escapes, and skips everything else: a long body
 * costs a small part of what parsing it does. `undefined` if there is no such member before the first syntax error that
 * this search notices. It accepts more than JSON, so only a refusal may follow from what it finds.
 */
export function topLevelText(body: Uint8Array, name: string): string | undefined {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  let depth = 0
  for (let at = 0; at < bytes.length; at++) {
    const code = bytes[at] as number
    if (code !== QUOTE) {
      depth += DEPTH_CHANGES.get(code) ?? 0
      continue
    }
    const end = endOfText(bytes, at)
    if (end === -1) return undefined
    const value = depth === 1 && isText(bytes, at, end, name) ? valueAfter(bytes, end + 1) : undefined
    if (value !== undefined) return value
    at = end
  }
  return undefined
}

/** The quote that ends the text which begins at `start`; -1 if none does. */
function endOfText(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(QUOTE, start + 1); end !== -1; end = bytes.indexOf(QUOTE, end + 1)) {
    let escapes = 0
    while (bytes[end - 1 - escapes] === BACKSLASH) escapes++
    if (escapes % 2 === 0) return end
  }
  return -1
}

const isText = (bytes: Buffer, start: number, end: number, text: string): boolean =>
  end - start - 1 === text.length && bytes.toString('latin1', start + 1, end) === text

const MAX_LENGTH = 512

function valueAfter(bytes: Buffer, from: number): string | undefined {
  const colon = skipSpaces(bytes, from)
  if (bytes[colon] !== COLON) return undefined
  const start = skipSpaces(bytes, colon + 1)
  if (bytes[start] !== QUOTE) return undefined
  const end = endOfText(bytes, start)
  if (end === -1 || end - start > MAX_LENGTH) return undefined
  const value = bytes.toString('utf8', start + 1, end)
  return value.includes('\\') ? undefined : value
}

function skipSpaces(bytes: Buffer, from: number): number {
  let at = from
  while (SPACES.has(bytes[at] as number)) at++
  return at
}

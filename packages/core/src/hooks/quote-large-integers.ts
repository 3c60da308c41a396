const MAY_BE_LARGE = /\d{16}/
const LARGE = /^-?[1-9]\d{15,}$/
const IN_NUMBER = /[\d.eE+-]/

/**
 * The JSON text with every integer beyond 2^53-1 as a text of the same digits: strict JSON refuses such a number, and the
 * sender of a delivery cannot change it. Leaves a text that is not JSON to the parser.
 */
export function quoteLargeIntegers(json: string): string {
  if (!MAY_BE_LARGE.test(json)) return json
  const pieces: string[] = []
  let copied = 0
  for (let at = 0; at < json.length; ) {
    const end = endOfToken(json, at)
    const token = json.slice(at, end)
    if (LARGE.test(token) && !Number.isSafeInteger(Number(token))) {
      pieces.push(json.slice(copied, at), `"${token}"`)
      copied = end
    }
    at = end
  }
  return pieces.join('') + json.slice(copied)
}

/** Where the string or number that begins at `at` ends; the next position for any other character. */
function endOfToken(json: string, at: number): number {
  if (json[at] === '"') return endOfString(json, at)
  let end = at
  while (IN_NUMBER.test(json[end] ?? '')) end++
  return Math.max(end, at + 1)
}

function endOfString(json: string, start: number): number {
  let at = start + 1
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at + 1
}

/**
 * RFC 8785 text of a JSON value: members sorted by UTF-16 code units, no white space, ECMAScript numbers.
 * Depth is bounded by the strict parser in front. A member that is `undefined` is left out.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const object = value as Readonly<Record<string, unknown>>
  const members = Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(object[key])}`)
  return `{${members.join(',')}}`
}

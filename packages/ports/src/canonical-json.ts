/**
 * Serializes a JSON value according to RFC 8785: members sorted by UTF-16 code units, no white space, ECMAScript
 * numbers. Leaves out members that are `undefined`. Recursion depth is bounded because the strict parser limits
 * nesting.
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

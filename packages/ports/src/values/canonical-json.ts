/**
 * Serializes a JSON value according to RFC 8785: members sorted by UTF-16 code units, no white space, ECMAScript
 * numbers. Leaves out members that are `undefined`. Recursion depth is bounded because the strict parser limits
 * nesting.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) {
    // An array of scalars has only one form, and one call is many times faster than a call per element.
    return value.some(isObject) ? `[${value.map(canonicalJson).join(',')}]` : JSON.stringify(value)
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const object = value as Readonly<Record<string, unknown>>
  const members = Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(object[key])}`)
  return `{${members.join(',')}}`
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null

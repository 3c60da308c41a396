/**
 * Returns a deeply frozen copy of plain data, so that stored records can be returned without copying. Byte arrays are
 * copied.
 */
export function frozenCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Uint8Array) return value.slice() as T
  return Object.freeze(Array.isArray(value) ? value.map(frozenCopy) : copyMembers(value)) as T
}

const copyMembers = (source: object): object =>
  Object.fromEntries(Object.entries(source).map(([key, member]) => [key, frozenCopy(member)]))

/** A map that evicts the least recently set entry when it is full. Every call takes constant time. */
export interface BoundedMap<K, V> {
  get(key: K): V | undefined
  /** Sets the entry and makes it the newest. */
  set(key: K, value: V): void
  delete(key: K): void
  size(): number
}

/** @param maxEntries at least 1 */
export function createBoundedMap<K, V>(maxEntries: number): BoundedMap<K, V> {
  const entries = new Map<K, V>()
  // Reuses a single iterator: a new iterator would walk over all deleted entries before it reaches the oldest entry.
  const oldest = entries.keys()
  let newest: K | undefined

  return {
    get: (key) => entries.get(key),
    set(key, value) {
      if (newest !== key) entries.delete(key)
      newest = key
      entries.set(key, value)
      if (entries.size <= maxEntries) return
      const next = oldest.next()
      if (!next.done) entries.delete(next.value)
    },
    delete: (key) => void entries.delete(key),
    size: () => entries.size,
  }
}

/** A map whose entries come and go. What is deleted is let go of at once. */
export interface CellMap<K, V> {
  get(key: K): V | undefined
  has(key: K): boolean
  set(key: K, value: V): void
  delete(key: K): void
  values(): readonly V[]
  entries(): readonly (readonly [K, V])[]
}

interface Cell<V> {
  value: V | undefined
}

/**
 * A `Map` replaces its table again and again when entries come and go, and the old one, with all that stood in it, leads to
 * the new one. Once a table has become old to the garbage collector, so does every later one, and with them every value, until
 * the next collection of everything. In these tables stand cells, which are empty by then.
 */
export function createCellMap<K, V>(): CellMap<K, V> {
  const cells = new Map<K, Cell<V>>()

  return {
    get: (key) => cells.get(key)?.value,
    has: (key) => cells.has(key),
    set(key, value) {
      const cell = cells.get(key)
      if (cell === undefined) cells.set(key, { value })
      else cell.value = value
    },
    delete(key) {
      const cell = cells.get(key)
      if (cell === undefined) return
      cell.value = undefined
      cells.delete(key)
    },
    values: () => Array.from(cells.values(), ({ value }) => value as V),
    entries: () => Array.from(cells, ([key, { value }]) => [key, value as V] as const),
  }
}

/** A map with a high turnover of entries. A deleted value becomes collectable at once. */
export interface CellMap<K, V> {
  get(key: K): V | undefined
  has(key: K): boolean
  set(key: K, value: V): void
  delete(key: K): void
  size(): number
  values(): readonly V[]
  entries(): readonly (readonly [K, V])[]
}

interface Cell<V> {
  value: V | undefined
}

/**
 * V8 replaces the table of a `Map` as entries come and go, and keeps each old table linked to the new one. Once a table
 * is in the old generation, every value of the later tables survives until the next full garbage collection. This map
 * stores cells and empties them on deletion, so only empty cells survive.
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
    size: () => cells.size,
    values: () => Array.from(cells.values(), ({ value }) => value as V),
    entries: () => Array.from(cells, ([key, { value }]) => [key, value as V] as const),
  }
}

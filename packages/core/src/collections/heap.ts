/** A priority queue from which any item can be removed in logarithmic time. Each item is in the heap at most once. */
export interface Heap<T> {
  readonly size: number
  /** The item that precedes all others. */
  readonly first: T | undefined
  add(item: T): void
  /** Does nothing if the item is not in the heap. */
  remove(item: T): void
  has(item: T): boolean
  /** All items, in no particular order. */
  items(): readonly T[]
}

/** @param precedes whether the first item goes before the second; a strict total order */
export function createHeap<T>(precedes: (one: T, other: T) => boolean): Heap<T> {
  const items: T[] = []
  const indexes = new Map<T, number>()

  const put = (item: T, index: number) => {
    items[index] = item
    indexes.set(item, index)
  }

  const moveUp = (item: T, from: number) => {
    let index = from
    while (index > 0) {
      const above = (index - 1) >> 1
      const parent = items[above] as T
      if (!precedes(item, parent)) break
      put(parent, index)
      index = above
    }
    put(item, index)
  }

  const moveDown = (item: T, from: number) => {
    let index = from
    for (;;) {
      let below = 2 * index + 1
      if (below >= items.length) break
      if (below + 1 < items.length && precedes(items[below + 1] as T, items[below] as T)) below++
      const child = items[below] as T
      if (!precedes(child, item)) break
      put(child, index)
      index = below
    }
    put(item, index)
  }

  return {
    get size() {
      return items.length
    },
    get first() {
      return items[0]
    },
    add: (item) => moveUp(item, items.length),
    remove(item) {
      const index = indexes.get(item)
      if (index === undefined) return
      indexes.delete(item)
      const last = items.pop() as T
      if (last === item) return
      const parent = items[(index - 1) >> 1]
      if (index > 0 && precedes(last, parent as T)) moveUp(last, index)
      else moveDown(last, index)
    },
    has: (item) => indexes.has(item),
    items: () => [...items],
  }
}

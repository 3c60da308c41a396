/**
 * A queue between a producer that pushes and one consumer that pulls. The queue does not limit its size; the producer
 * stops at `isFull()`.
 */
export interface ItemBuffer<Item> {
  /** Adds an item. The caller must stop pushing once `isFull()` returns true. */
  push(item: Item): void
  isFull(): boolean
  /**
   * Ends the queue: once it is empty, `take` returns `undefined` or throws `error`. Later calls of `end` have no
   * effect.
   */
  end(error?: Error): void
  /** Waits for the oldest item; `undefined` after the end. One caller at a time. */
  take(): Promise<Item | undefined>
  size(): number
}

export function createItemBuffer<Item>(capacity: number): ItemBuffer<Item> {
  const items: Item[] = []
  let ending: { readonly error: Error | undefined } | undefined
  let notify: () => void = () => {}

  return {
    push(item) {
      if (ending !== undefined) return
      items.push(item)
      notify()
    },
    isFull: () => items.length >= capacity,
    end(error) {
      ending ??= { error }
      notify()
    },
    async take() {
      while (items.length === 0 && ending === undefined) {
        await new Promise<void>((resolve) => {
          notify = resolve
        })
      }
      const item = items.shift()
      if (item === undefined && ending?.error !== undefined) throw ending.error
      return item
    },
    size: () => items.length,
  }
}

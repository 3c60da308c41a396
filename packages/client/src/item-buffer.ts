/** A bounded queue between what is pushed and who pulls. */
export interface ItemBuffer<Item> {
  /** Takes the item. The caller stops pushing when `isFull`. */
  push(item: Item): void
  isFull(): boolean
  /** After what it still holds, `take` ends, or throws when there is an error. Only the first call counts. */
  end(error?: Error): void
  /** The oldest item, once there is one; `undefined` after the end. For one caller at a time. */
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

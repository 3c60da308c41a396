import { useEffect, useState } from 'preact/hooks'

/** A value that components can follow. */
export interface Store<Value> {
  get(): Value
  set(value: Value): void
  subscribe(listener: () => void): () => void
}

export function createStore<Value>(initial: Value): Store<Value> {
  const listeners = new Set<() => void>()
  let value = initial
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

export function useStore<Value>(store: Store<Value>): Value {
  const [value, setValue] = useState(store.get)
  useEffect(() => {
    setValue(() => store.get())
    return store.subscribe(() => setValue(() => store.get()))
  }, [store])
  return value
}

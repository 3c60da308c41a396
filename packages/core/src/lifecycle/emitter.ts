/** An event within the process. Its listeners are called at once, in the order in which they were added. */
export interface Emitter<T = void> {
  readonly emit: (value: T) => void
  readonly on: (listener: (value: T) => void) => void
}

export function createEmitter<T = void>(): Emitter<T> {
  const listeners: Array<(value: T) => void> = []
  return {
    emit(value) {
      for (const listener of listeners) listener(value)
    },
    on: (listener) => void listeners.push(listener),
  }
}

import type { Conflict, NewEvent, Write } from '@perdure/ports'

/** What a piece of work writes into the storage, and what it hands to the code. */
export interface Effect<T> {
  readonly writes: readonly Write[]
  readonly events?: readonly NewEvent[]
  readonly value: T
  /** The error to throw when a write has met this conflict; without one the work is decided again. */
  readonly refuse?: (conflict: Conflict) => Error | undefined
}

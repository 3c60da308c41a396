import type { Conflict, NewEvent, Write } from '@perdure/ports'

/** The writes of a piece of work and the value that the code gets. */
export interface Effect<T> {
  readonly writes: readonly Write[]
  readonly events?: readonly NewEvent[]
  readonly value: T
  /** The error to throw after this conflict; the work is decided again when it returns `undefined`. */
  readonly refuse?: (conflict: Conflict) => Error | undefined
}

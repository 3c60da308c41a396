import type { Conflict, NewEvent, Write } from '@perdure/ports'

/** The writes of a durable call, and the value that the code gets. */
export interface Effect<T> {
  readonly writes: readonly Write[]
  readonly events?: readonly NewEvent[]
  readonly value: T
  /** Returns the error to throw after this conflict, or `undefined` to call `decide` again. */
  readonly refuse?: (conflict: Conflict) => Error | undefined
  /** Called once the writes are committed, also if the run has ended since then. */
  readonly onCommitted?: () => void
}

import type { Conflict, StoredEvent, Write, WriteType } from '@perdure/ports'
import type { UndoLog } from './undo-log.ts'

/** What one commit collects while its writes are applied. */
export interface Transaction {
  readonly undo: UndoLog
  readonly events: StoredEvent[]
}

export type WriteOf<T extends WriteType> = Extract<Write, { readonly type: T }>

/** Applies one write; answers how many rows it changed, or what stood in its way. */
type WriteApplier<T extends WriteType> = (write: WriteOf<T>, transaction: Transaction) => number | Conflict

/** One applier per type of write: a missing one does not compile. */
export type WriteAppliers = { readonly [T in WriteType]: WriteApplier<T> }

import type { Conflict, StoredEvent, Write, WriteType } from '@perdure/ports'
import type { UndoLog } from './undo-log.ts'

/** State of one commit while its writes are applied. */
export interface Transaction {
  readonly undo: UndoLog
  readonly events: StoredEvent[]
}

export type WriteOf<T extends WriteType> = Extract<Write, { readonly type: T }>

/** Applies one write; returns the number of changed rows, or the conflict. */
type WriteApplier<T extends WriteType> = (write: WriteOf<T>, transaction: Transaction) => number | Conflict

/** One applier per write type: a missing applier does not compile. */
export type WriteAppliers = { readonly [T in WriteType]: WriteApplier<T> }

/** The types of the writes of a noun. */
export type WritesOf<Noun extends string> = Extract<WriteType, `${Noun}.${string}`>

/** One table: what its port reads, and how its writes apply. */
export interface Table<Store, Type extends WriteType> {
  readonly store: Store
  readonly appliers: Pick<WriteAppliers, Type>
}

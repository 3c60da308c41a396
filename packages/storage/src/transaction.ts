import type { AuditState, Conflict, NewEvent, Write, WriteType } from '@perdure/ports'
import type { Pending, Program } from './program.ts'
import type { Db } from './query/dialect.ts'

/** The state shared by the writes of one commit. */
export interface Transaction {
  readonly db: Db
  /** Appends events to the log, at the latest at the next `flush`. */
  append(events: readonly NewEvent[]): void
  /** Ends when every event is in the log. */
  flush(): Pending<void>
  /** The end of the audit chain, including entries that this commit has appended. */
  chain?: Pick<AuditState, 'last' | 'head'>
}

/** The types of the writes of a noun. */
export type WritesOf<Noun extends string> = Extract<WriteType, `${Noun}.${string}`>

export type WriteOf<Type extends WriteType> = Extract<Write, { readonly type: Type }>

/** Applies one write. Returns the number of changed rows, or the conflict. */
export type WriteApplier<Type extends WriteType> = (tx: Transaction, write: WriteOf<Type>) => Program<number | Conflict>

export type WriteAppliers<Type extends WriteType = WriteType> = { readonly [T in Type]: WriteApplier<T> }

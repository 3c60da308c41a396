import type { AuditState, Conflict, NewEvent, StoredEvent, Write, WriteType } from '@perdure/ports'
import type { Connection } from '../connection/connection.ts'

/** The state shared by the writes of one commit. */
export interface Transaction {
  readonly db: Connection
  /** Events of the commit that are not in the log yet: the lock of the log is taken last. */
  readonly pending: NewEvent[]
  /** Events of the commit that are in the log. */
  readonly events: StoredEvent[]
  /** The newest position that this process has seen. */
  readonly knownPosition: number
  /** The end of the audit chain, including entries that this commit has appended. */
  chain?: Pick<AuditState, 'last' | 'head'>
}

export type WriteOf<Type extends WriteType> = Extract<Write, { readonly type: Type }>

/** Applies one write. Returns the number of changed rows, or the conflict. */
export type WriteApplier<Type extends WriteType> = (tx: Transaction, write: WriteOf<Type>) => Promise<number | Conflict>

export type WriteAppliers<Type extends WriteType = WriteType> = { readonly [T in Type]: WriteApplier<T> }

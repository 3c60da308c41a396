import type { AuditState, Conflict, StoredEvent, Write, WriteType } from '@perdure/ports'
import type { Connection } from '../file/connection.ts'

/** The state shared by the writes of one commit. */
export interface Transaction {
  readonly db: Connection
  /** Collects the events appended to the log. */
  readonly events: StoredEvent[]
  /** The most recently used run and its key, to save a lookup. */
  lastRun?: { readonly id: string; readonly key: number } | undefined
  /** The end of the audit chain, including entries that this commit has appended. */
  chain?: Pick<AuditState, 'last' | 'head'>
}

export type WriteOf<Type extends WriteType> = Extract<Write, { readonly type: Type }>

/** Applies one write. Returns the number of changed rows, or the conflict. */
export type WriteApplier<Type extends WriteType> = (tx: Transaction, write: WriteOf<Type>) => number | Conflict

export type WriteAppliers<Type extends WriteType = WriteType> = { readonly [T in Type]: WriteApplier<T> }

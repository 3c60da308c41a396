import type { AuditState, Conflict, StoredEvent, Write, WriteType } from '@perdure/ports'
import type { Connection } from './connection.ts'

/** Where the writes of one commit go. */
export interface Transaction {
  readonly db: Connection
  /** Collects what was appended to the log. */
  readonly events: StoredEvent[]
  /** The run mentioned last, and its key. */
  lastRun?: { readonly id: string; readonly key: number } | undefined
  /** Where the audit chain stands once this commit has appended to it. */
  chain?: Pick<AuditState, 'last' | 'head'>
}

export type WriteOf<Type extends WriteType> = Extract<Write, { readonly type: Type }>

/** Applies one write; answers how many rows it changed, or what stood in its way. */
export type WriteApplier<Type extends WriteType> = (tx: Transaction, write: WriteOf<Type>) => number | Conflict

export type WriteAppliers<Type extends WriteType = WriteType> = { readonly [T in Type]: WriteApplier<T> }

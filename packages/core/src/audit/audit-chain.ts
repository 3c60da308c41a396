import type { AuditLog, UnitOfWork } from '@perdure/ports'
import type { AdmitRequest } from './admit-request.ts'
import type { RecordAnswer } from './record-answer.ts'

/** A chain in its place, and the ways into it. */
export interface AuditChain {
  readonly log: AuditLog
  /** Of the database that holds it. */
  readonly owner: UnitOfWork
  /** Of the main database; what is appended through it comes into the chain. */
  readonly unitOfWork: UnitOfWork
  readonly admit: AdmitRequest
  readonly record: RecordAnswer
  /** Brings what is on its way into the chain; gives up soon when it cannot be written, and that waits for its turn. */
  settle(): Promise<void>
  /** Why nothing can be recorded now. */
  problem(): string | undefined
  start(): Promise<void>
  stop(): Promise<void>
}

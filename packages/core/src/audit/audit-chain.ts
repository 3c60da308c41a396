import type { AuditLog, UnitOfWork } from '@perdure/ports'
import type { AdmitRequest } from './admit-request.ts'
import type { RecordAnswer } from './record-answer.ts'

/** The audit chain, in the main database or in its own file, and the operations that add entries to it. */
export interface AuditChain {
  readonly log: AuditLog
  /** Unit of work of the database that holds the chain. */
  readonly chainUnitOfWork: UnitOfWork
  /** Unit of work of the main database. Entries that are appended through this unit of work reach the chain. */
  readonly unitOfWork: UnitOfWork
  readonly admit: AdmitRequest
  readonly record: RecordAnswer
  /** Writes pending entries to the chain. Stops waiting after a short timeout; the entries stay pending. */
  flush(): Promise<void>
  /** Why entries cannot be written now; `undefined` if they can. */
  problem(): string | undefined
  start(): Promise<void>
  stop(): Promise<void>
}

import type { AuditLink } from './audit-log.ts'
import type { EpochMs } from './clock.ts'

/** What the chain was at some moment: its entry number `seq` had this hash. */
export interface AuditCheckpoint extends Pick<AuditLink, 'seq' | 'hash'> {
  readonly at: EpochMs
}

/** A line of the log; without `checkpoint` it is none that one of our keys has signed. */
export interface CheckpointLine {
  readonly number: number // from 1
  readonly checkpoint?: AuditCheckpoint | undefined
}

/** Port. Signed checkpoints outside the database, where cutting or rewriting the chain does not reach. */
export interface CheckpointLog {
  /** Signs and appends; resolves when it is durable. */
  append(checkpoint: AuditCheckpoint): Promise<void>
  /** Every line, oldest first, without holding them all. What a crash left of a last line is no line. */
  read(): AsyncIterable<CheckpointLine>
}

import type { AuditLink } from './audit-log.ts'
import type { EpochMs } from './clock.ts'

/** A snapshot of the chain: at that time, entry number `seq` had this hash. */
export interface AuditCheckpoint extends Pick<AuditLink, 'seq' | 'hash'> {
  readonly at: EpochMs
}

/** A line of the log; without `checkpoint` when none of the configured keys has signed it. */
export interface CheckpointLine {
  readonly number: number // from 1
  readonly checkpoint?: AuditCheckpoint | undefined
}

/** Port. Signed checkpoints outside the database, out of reach of whoever truncates or rewrites the chain. */
export interface CheckpointLog {
  /** Signs and appends the checkpoint; resolves when it is durable. */
  append(checkpoint: AuditCheckpoint): Promise<void>
  /** Streams every line, oldest first. A partial last line left by a crash is skipped. */
  read(): AsyncIterable<CheckpointLine>
}

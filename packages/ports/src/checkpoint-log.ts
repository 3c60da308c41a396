import type { AuditLink } from './audit-log.ts'
import type { EpochMs } from './clock.ts'

/** A snapshot of the chain: at the time `at`, entry number `seq` had this hash. */
export interface AuditCheckpoint extends Pick<AuditLink, 'seq' | 'hash'> {
  readonly at: EpochMs
}

/** A line of the log. `checkpoint` is missing when none of the configured keys signed the line. */
export interface CheckpointLine {
  readonly number: number // from 1
  readonly checkpoint?: AuditCheckpoint | undefined
}

/** Port. Keeps signed checkpoints outside the database, where truncating or rewriting the chain cannot affect them. */
export interface CheckpointLog {
  /** Signs and appends the checkpoint; resolves when it is durable. */
  append(checkpoint: AuditCheckpoint): Promise<void>
  /** Streams every line, oldest first. A partial last line left by a crash is skipped. */
  read(): AsyncIterable<CheckpointLine>
  /**
   * Whether every line that this log has appended or read completely is still there. Once another program has removed
   * or replaced the lines, this stays false.
   */
  isIntact(): Promise<boolean>
}

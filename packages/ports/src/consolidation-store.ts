import type { EpochMs } from './clock.ts'

/** A session with changes that consolidation has not seen. */
export interface ChangedSession {
  readonly sessionId: string
  readonly owner: string
  readonly changedAt: EpochMs
}

export interface ConsolidationSpend {
  readonly tokens: number
  readonly costUsd: number
}

/** Port. Reads the state that the consolidator keeps between jobs. Must pass `consolidationStoreContract`. */
export interface ConsolidationStore {
  /**
   * Lists sessions whose last change (creation or a new message) is at or before `before` and is not marked as seen,
   * and that have no queued, running or suspended run; longest unchanged first.
   */
  idleSessions(before: EpochMs, limit: number): Promise<readonly ChangedSession[]>
  /** Returns the `seq` of the last message that was extracted; 0 initially. */
  extractedThrough(sessionId: string): Promise<number>
  /** Returns what the consolidator spent on this day (`YYYY-MM-DD`). */
  spentOn(day: string): Promise<ConsolidationSpend>
}

import type { EpochMs } from './clock.ts'

/** A session with something that consolidation has not seen. */
export interface ChangedSession {
  readonly sessionId: string
  readonly owner: string
  readonly changedAt: EpochMs
}

export interface ConsolidationSpend {
  readonly tokens: number
  readonly costUsd: number
}

/** Port. What the consolidator remembers between its jobs. Passes `consolidationStoreContract`. */
export interface ConsolidationStore {
  /**
   * Sessions that changed (were made or got a message), at or before `before`, since they were last noted as seen, and
   * have no run that is queued, running or suspended; longest unchanged first.
   */
  idleSessions(before: EpochMs, limit: number): Promise<readonly ChangedSession[]>
  /** The place in the transcript up to which messages were extracted; 0 at first. */
  extractedThrough(sessionId: string): Promise<number>
  /** What was spent on the day, as `YYYY-MM-DD`. */
  spentOn(day: string): Promise<ConsolidationSpend>
}

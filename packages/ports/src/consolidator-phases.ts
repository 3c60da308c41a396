import type { EpochMs } from './clock.ts'
import type { ConsolidationSpend } from './consolidation-store.ts'
import type { FactGroup, FactRecord } from './fact-store.ts'
import type { JobPhase } from './job-queue.ts'
import type { MessageRecord } from './session-store.ts'

/** The job that a phase works on. */
export interface ConsolidationJob {
  readonly phase: JobPhase
  readonly jobId: string // stable across attempts: use it as the idempotency key for external calls
  readonly attempt: number // from 1
  readonly owner?: string | undefined // owner of the facts to work on; when missing, the facts of every owner
  readonly sessionId?: string | undefined // set for `extract`
  readonly now: EpochMs
  /** Aborts when the server stops or the lease expires; results returned after that are discarded. */
  readonly signal: AbortSignal
}

/** The reads available to a phase. Each call sees the data committed at that moment. */
export interface ConsolidationReads {
  /** Returns up to 200 messages of the job's session that have not been extracted yet, oldest first. */
  messages(): Promise<readonly MessageRecord[]>
  /** Finds the facts of the job's owner that match the text best, in any namespace. */
  similar(text: string, limit: number): Promise<readonly FactRecord[]>
  /**
   * Lists groups of facts that say the same thing, ordered by `groupKey`. `after` is the `groupKey` of the last group
   * already read.
   */
  repeated(limit: number, after?: string): Promise<readonly FactGroup[]>
  expired(limit: number): Promise<readonly FactRecord[]>
  /** Lists facts whose importance was set or last decayed at or before `at`. */
  weighedBefore(at: EpochMs, limit: number): Promise<readonly FactRecord[]>
  /** Returns which of these facts are in an open conflict. */
  inConflict(factIds: readonly string[]): Promise<ReadonlySet<string>>
}

/** A new fact that a phase has found. */
export interface FoundFact {
  readonly text: string
  readonly namespace?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly importance?: number | undefined
  readonly expiresAt?: EpochMs | undefined
}

/** A change to a fact. If the fact has changed since the phase read it, nothing is written and the phase runs again. */
export interface FactRevision {
  readonly fact: FactRecord
  /** A missing member stays unchanged; `expiresAt: null` removes the expiry. */
  readonly change: Partial<Pick<FactRecord, 'text' | 'tags' | 'metadata' | 'importance'>> & {
    readonly expiresAt?: EpochMs | null | undefined
  }
}

/** What a phase has decided to write; committed in one transaction with the completion of the job. */
export interface PhaseResult {
  readonly remember?: readonly FoundFact[]
  readonly revise?: readonly FactRevision[]
  readonly forget?: readonly FactRecord[]
  /** New importance of facts whose importance has decayed; nothing else about these facts changes. */
  readonly weigh?: readonly { readonly fact: FactRecord; readonly importance: number }[]
  /** Cost of the phase; counts against the daily budget. */
  readonly spent?: ConsolidationSpend
  /** True when work remains that does not fit into this commit. The job is then queued again. */
  readonly hasMore?: boolean
}

export type ConsolidatorPhase = (job: ConsolidationJob, reads: ConsolidationReads) => Promise<PhaseResult>

/**
 * Port. The work of the consolidator in each phase. A phase that throws is retried later; after five attempts its job
 * becomes a dead letter. A phase can be called again for work that was not committed, so it must not have side effects
 * in the server.
 */
export interface ConsolidatorPhases {
  readonly extract: ConsolidatorPhase
  readonly merge: ConsolidatorPhase
  readonly decay: ConsolidatorPhase
}

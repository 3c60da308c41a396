import type { EpochMs } from './clock.ts'
import type { ConsolidationSpend } from './consolidation-store.ts'
import type { FactGroup, FactRecord } from './fact-store.ts'
import type { JobPhase } from './job-queue.ts'
import type { MessageRecord } from './session-store.ts'

/** The job that a phase works on. */
export interface ConsolidationJob {
  readonly phase: JobPhase
  readonly jobId: string // stable over attempts: give it to the outside as its idempotency key
  readonly attempt: number // from 1
  readonly owner?: string | undefined // whose facts; those of every owner when missing
  readonly sessionId?: string | undefined // set for `extract`
  readonly now: EpochMs
  /** Aborts when the server stops or the lease on the job is over: what is returned after that is dropped. */
  readonly signal: AbortSignal
}

/** What a phase may read. Each call reads what is committed at that moment. */
export interface ConsolidationReads {
  /** Messages of the job's session that no extraction has seen, oldest first; at most 200 of them. */
  messages(): Promise<readonly MessageRecord[]>
  /** The job's owner's facts that fit the text best, of any namespace. */
  similar(text: string, limit: number): Promise<readonly FactRecord[]>
  /** Groups of facts that say the same, in their order. `after` is the `groupKey` of the last one seen. */
  repeated(limit: number, after?: string): Promise<readonly FactGroup[]>
  expired(limit: number): Promise<readonly FactRecord[]>
  /** Facts whose importance was set or has decayed at or before `at`. */
  weighedBefore(at: EpochMs, limit: number): Promise<readonly FactRecord[]>
  /** Those of the facts that stand in an open conflict. */
  inConflict(factIds: readonly string[]): Promise<ReadonlySet<string>>
}

/** A fact that a phase has found out. */
export interface FoundFact {
  readonly text: string
  readonly namespace?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly importance?: number | undefined
  readonly expiresAt?: EpochMs | undefined
}

/** A change of a fact as it was read; void, and the job decided again, when somebody has changed the fact since. */
export interface FactRevision {
  readonly fact: FactRecord
  /** A missing member stays as it is; `expiresAt: null` lets the fact live on. */
  readonly change: Partial<Pick<FactRecord, 'text' | 'tags' | 'metadata' | 'importance'>> & {
    readonly expiresAt?: EpochMs | null | undefined
  }
}

/** What a phase decides. All of it, and that the job is done, is written in one commit. */
export interface PhaseResult {
  readonly remember?: readonly FoundFact[]
  readonly revise?: readonly FactRevision[]
  readonly forget?: readonly FactRecord[]
  /** Facts whose importance has decayed to this; nothing else of them changes. */
  readonly weigh?: readonly { readonly fact: FactRecord; readonly importance: number }[]
  /** What it cost; counts against the budget of the day. */
  readonly spent?: ConsolidationSpend
  /** There is more to do than fits into one commit: the job is queued again. */
  readonly hasMore?: boolean
}

export type ConsolidatorPhase = (job: ConsolidationJob, reads: ConsolidationReads) => Promise<PhaseResult>

/**
 * Port. What the consolidator does in each phase. A phase that throws is tried again later; after five attempts its job
 * is a dead letter. It may be called again for work that was not committed, and must have no effect of its own inside
 * the server.
 */
export interface ConsolidatorPhases {
  readonly extract: ConsolidatorPhase
  readonly merge: ConsolidatorPhase
  readonly decay: ConsolidatorPhase
}

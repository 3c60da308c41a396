import type { ConsolidatorPhase } from '@perdure/protocol'
import type { EpochMs } from './clock.ts'
import type { Page, PageQuery } from './page.ts'

export type JobPhase = ConsolidatorPhase

/** A consolidator job. At most one live job (not a dead letter) has a given key. */
export interface JobRecord {
  readonly id: string
  readonly key: string // identifies the work: two jobs with the same key would do the same work
  readonly phase: JobPhase
  readonly owner?: string | undefined // owner of the facts to work on; when missing, the facts of every owner
  readonly sessionId?: string | undefined
  readonly attempts: number // how often it was claimed
  readonly dueAt: EpochMs // when it can be claimed; while it is claimed, when its lease expires
  readonly lease?: string | undefined // fencing token of the worker that claimed it
  readonly runAgain: boolean // enqueued again while it was claimed
  readonly error?: JobError | undefined // error of its last failed attempt
  readonly createdAt: EpochMs
  readonly failedAt?: EpochMs | undefined // when it became a dead letter
}

export interface JobError {
  readonly kind: string
  readonly message: string
}

export type NewJob = Pick<JobRecord, 'id' | 'key' | 'phase' | 'owner' | 'sessionId' | 'createdAt' | 'dueAt'>

/** Number of live jobs per phase, and number of dead letters. */
export interface JobCounts {
  readonly extract: number
  readonly merge: number
  readonly decay: number
  readonly deadLetters: number
}

/** Port. Reads the job queue; every write goes through `UnitOfWork`. Must pass `jobQueueContract`. */
export interface JobQueue {
  find(id: string): Promise<JobRecord | undefined>
  /** Returns the live job with this key. */
  findLive(key: string): Promise<JobRecord | undefined>
  /** Lists live jobs of these phases with `dueAt <= now`, earliest first: new jobs, retries, and expired leases. */
  due(phases: readonly JobPhase[], now: EpochMs, limit: number): Promise<readonly JobRecord[]>
  /** Returns the earliest `dueAt` of all live jobs of these phases. */
  nextDueAt(phases: readonly JobPhase[]): Promise<EpochMs | undefined>
  /** Lists dead letters, ordered by creation (ties by id). */
  deadLetters(page: PageQuery): Promise<Page<JobRecord>>
  counts(): Promise<JobCounts>
}

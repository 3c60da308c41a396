import type { EpochMs } from './clock.ts'
import type { Page, PageQuery } from './page.ts'

export type JobPhase = 'extract' | 'merge' | 'decay'

/** A piece of work of the consolidator. At most one that is not dead has its key. */
export interface JobRecord {
  readonly id: string
  readonly key: string // what it is about: two jobs of one key would do the same
  readonly phase: JobPhase
  readonly owner?: string | undefined // whose facts; those of every owner when missing
  readonly sessionId?: string | undefined
  readonly attempts: number // how often it was taken
  readonly dueAt: EpochMs // while it is taken: when its lease ends
  readonly lease?: string | undefined // of who has taken it; a fencing token
  readonly isAgain: boolean // enqueued once more while it was taken
  readonly error?: JobError | undefined // of its last failure
  readonly createdAt: EpochMs
  readonly failedAt?: EpochMs | undefined // when it was given up: a dead letter
}

export interface JobError {
  readonly kind: string
  readonly message: string
}

export type NewJob = Pick<JobRecord, 'id' | 'key' | 'phase' | 'owner' | 'sessionId' | 'createdAt' | 'dueAt'>

/** Jobs that are not dead, per phase, and those that are. */
export interface JobCounts {
  readonly extract: number
  readonly merge: number
  readonly decay: number
  readonly deadLetters: number
}

/** Port. Reads of the queue of jobs; every write goes through `UnitOfWork`. Passes `jobQueueContract`. */
export interface JobQueue {
  find(id: string): Promise<JobRecord | undefined>
  /** The one of this key that is not dead. */
  findAlive(key: string): Promise<JobRecord | undefined>
  /** Jobs of these phases that are not dead, with `dueAt <= now`, earliest first: new ones, retries, and expired leases. */
  due(phases: readonly JobPhase[], now: EpochMs, limit: number): Promise<readonly JobRecord[]>
  /** The earliest `dueAt` of all jobs of these phases that are not dead. */
  nextDueAt(phases: readonly JobPhase[]): Promise<EpochMs | undefined>
  /** Jobs that were given up, ordered by creation (ties by id). */
  deadLetters(page: PageQuery): Promise<Page<JobRecord>>
  counts(): Promise<JobCounts>
}

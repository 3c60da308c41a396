import type { EpochMs } from './clock.ts'
import type { ConsolidationSpend } from './consolidation-store.ts'
import type { JobError, JobRecord, NewJob } from './job-queue.ts'

/** The writes of the consolidator. */
export type ConsolidatorWrite =
  /**
   * Queues the job, unless one of its key is not dead: then it is a no-op, and one that is taken will be queued again
   * when it is done. Never conflicts.
   */
  | { readonly type: 'job.enqueue'; readonly job: NewJob }
  /** Takes the job until `until`, and counts the attempt; conflicts unless it is not dead and `dueAt <= now`. */
  | {
      readonly type: 'job.claim'
      readonly id: string
      readonly lease: string
      readonly now: EpochMs
      readonly until: EpochMs
    }
  /**
   * Ends the job; conflicts unless this lease still holds it. The job is deleted, or queued anew, due at `now`, when it was
   * enqueued meanwhile or `isAgain` asks for it.
   */
  | {
      readonly type: 'job.complete'
      readonly id: string
      readonly lease: string
      readonly now: EpochMs
      readonly isAgain: boolean
    }
  /**
   * Gives the job back with what went wrong; conflicts unless this lease still holds it. With `dueAt` it is tried again
   * then, without it is dead from `now` on and its key is free.
   */
  | {
      readonly type: 'job.fail'
      readonly id: string
      readonly lease: string
      readonly now: EpochMs
      readonly attempts: number
      readonly error?: JobError | undefined
      readonly dueAt?: EpochMs | undefined
    }
  /**
   * Brings a dead job back, due at `now`, its attempts counted anew; conflicts unless it is dead. When another of its key
   * is not dead, that one does the work and this one is deleted.
   */
  | { readonly type: 'job.retry'; readonly id: string; readonly now: EpochMs }
  /** Notes the session as seen, up to what had changed at `changedAt`; a no-op for what changed after it. */
  | { readonly type: 'consolidation.seen'; readonly sessionId: string; readonly changedAt: EpochMs }
  /** Notes up to which message the session was extracted; never goes back. */
  | { readonly type: 'consolidation.extracted'; readonly sessionId: string; readonly throughSeq: number }
  /** Adds to what was spent on the day, as `YYYY-MM-DD`. */
  | { readonly type: 'consolidation.spend'; readonly day: string; readonly spend: ConsolidationSpend }

/** What stood in the way of a write of the consolidator. */
export interface ConsolidatorWriteConflict {
  readonly type: 'job.claim' | 'job.complete' | 'job.fail' | 'job.retry'
  readonly current?: JobRecord | undefined
}

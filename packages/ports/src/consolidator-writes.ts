import type { EpochMs } from './clock.ts'
import type { ConsolidationSpend } from './consolidation-store.ts'
import type { JobError, JobRecord, NewJob } from './job-queue.ts'

/** The writes of the consolidator. */
export type ConsolidatorWrite =
  /**
   * Queues the job. If a live job has the same key, nothing is inserted; if that job is claimed, it is queued again
   * when it completes. Never conflicts.
   */
  | { readonly type: 'job.enqueue'; readonly job: NewJob }
  /** Claims the job until `until` and counts the attempt; conflicts unless the job is live and `dueAt <= now`. */
  | {
      readonly type: 'job.claim'
      readonly id: string
      readonly lease: string
      readonly now: EpochMs
      readonly until: EpochMs
    }
  /**
   * Ends the job; conflicts unless this lease still holds it. Deletes the job or, if it was enqueued meanwhile or
   * `runAgain` is set, queues it again, due at `now`.
   */
  | {
      readonly type: 'job.complete'
      readonly id: string
      readonly lease: string
      readonly now: EpochMs
      readonly runAgain: boolean
    }
  /**
   * Releases the job with the error; conflicts unless this lease still holds it. With `dueAt`, the job is retried at
   * that time; without it, the job becomes a dead letter at `now` and another job can use its key.
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
   * Requeues a dead letter, due at `now`, with its attempts reset; conflicts unless it is a dead letter. If a live job
   * has the same key, that job does the work and the dead letter is deleted.
   */
  | { readonly type: 'job.retry'; readonly id: string; readonly now: EpochMs }
  /** Marks the session's changes up to `changedAt` as seen; a no-op if the session changed after that. */
  | { readonly type: 'consolidation.seen'; readonly sessionId: string; readonly changedAt: EpochMs }
  /** Records the last message of the session that was extracted; never decreases. */
  | { readonly type: 'consolidation.extracted'; readonly sessionId: string; readonly throughSeq: number }
  /** Adds to what the consolidator spent on this day (`YYYY-MM-DD`). */
  | { readonly type: 'consolidation.spend'; readonly day: string; readonly spend: ConsolidationSpend }

/** The conflicts that the writes of the consolidator can cause. */
export interface ConsolidatorWriteConflict {
  readonly type: 'job.claim' | 'job.complete' | 'job.fail' | 'job.retry'
  readonly current?: JobRecord | undefined
}

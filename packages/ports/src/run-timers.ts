import type { EpochMs } from './clock.ts'
import type { RunRecord } from './run-store.ts'

/** Start times after `after` and up to and including `through`. */
export interface StartRange {
  readonly after: EpochMs
  readonly through: EpochMs
}

/**
 * Port. Reads deadlines and start times of runs. A list ends like a page, so it can be shorter than `limit` although
 * more runs match. Must pass `runTimersContract`.
 */
export interface RunTimers {
  /** Lists queued, running and suspended runs with `deadlineAt <= now`, earliest first. */
  pastDeadline(now: EpochMs, limit: number): Promise<readonly RunRecord[]>
  /** Returns the earliest `deadlineAt` of all queued, running and suspended runs. */
  nextDeadlineAt(): Promise<EpochMs | undefined>
  /** Lists queued runs whose `startAt` is in the range, earliest first (ties by id). */
  starting(range: StartRange, limit: number): Promise<readonly RunRecord[]>
  /** Returns the earliest `startAt` after `after` of all queued runs. */
  nextStartAt(after: EpochMs): Promise<EpochMs | undefined>
}

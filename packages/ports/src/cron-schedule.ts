import type { EpochMs } from './clock.ts'

/** A cron expression and the time zone in which it is evaluated. */
export interface CronRule {
  readonly cron: string // 5 fields, or 6 with seconds first
  readonly timezone: string // an IANA time zone name
}

/**
 * Port. Computes when a cron rule fires. Each matching wall time is one occurrence. If a clock change skips matching
 * wall times, they all occur right after the gap, at the same instant. If a clock change repeats a wall time, only the
 * first one counts.
 */
export interface CronSchedule {
  /**
   * Loads what the other methods need; they throw until this call resolves. Loading is a separate call so that a server
   * without cron rules can skip it. Idempotent.
   */
  ready(): Promise<void>
  /** Describes what is wrong with the rule; `undefined` if it is valid. Never throws. */
  problemOf(rule: CronRule): string | undefined
  /**
   * Returns the first occurrence after an instant (exclusive); `undefined` if there is none within eight years and a
   * day, which is long enough to reach every 29 February. @throws Error if the rule has a problem
   */
  next(rule: CronRule, after: EpochMs): EpochMs | undefined
}

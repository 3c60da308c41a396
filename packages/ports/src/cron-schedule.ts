import type { EpochMs } from './clock.ts'

/** A cron expression and the zone whose wall clock it speaks of. */
export interface CronRule {
  readonly cron: string // 5 fields, or 6 with seconds first
  readonly timezone: string // an IANA name
}

/**
 * Port. Which instants a cron rule names. Every wall time that matches is one occurrence: at its instant; when the clock
 * skips it, right after the gap, together with all others of that gap; when the clock shows it twice, the first time.
 */
export interface CronSchedule {
  /** Loads what the other members need; they throw before. For who has a rule at hand: most servers have none. Idempotent. */
  ready(): Promise<void>
  /** What is wrong with the rule, in words for its author; `undefined` for a good one. Never throws. */
  problemOf(rule: CronRule): string | undefined
  /**
   * The first occurrence after an instant, exclusively; `undefined` when there is none within eight years and a day,
   * which reaches every 29 February. @throws Error for a rule that has a problem
   */
  next(rule: CronRule, after: EpochMs): EpochMs | undefined
}

import type { CronSchedule, EpochMs, TriggerRecord } from '@perdure/ports'

/** The part of a trigger that says when it fires. */
export type TriggerRule = Pick<TriggerRecord, 'kind' | 'cron' | 'timezone' | 'intervalMs' | 'idleMs' | 'event'>

/** What the kinds of triggers differ in. */
export interface TriggerKindSpec {
  /**
   * Where its occurrences come from: `clock` computes them from the trigger alone, `activity` from when runs were last
   * active, `event` has none in advance.
   */
  readonly source: 'clock' | 'activity' | 'event'
  /** Whether the target needs an input of its own; a kind whose fires carry a payload passes that on instead. */
  readonly needsInput: boolean
  /** Loads what `problemOf` and `next` need. */
  ready(cronSchedule: CronSchedule): Promise<void>
  /** What is wrong with a rule that fits its schema, starting with the field; `undefined` when it is valid. */
  problemOf(rule: TriggerRule, cronSchedule: CronSchedule): string | undefined
  /** The first occurrence after an instant, exclusively; always `undefined` unless `source` is `clock`. */
  next(trigger: TriggerRecord, after: EpochMs, cronSchedule: CronSchedule): EpochMs | undefined
  /** When it fires, in a few words for people. */
  text(rule: TriggerRule): string
}

import type { CronSchedule, EpochMs, TriggerRecord } from '@perdure/ports'

/** The fields of a trigger that say when it fires. When code declares a trigger with other values, its schedule starts over. */
export const TRIGGER_RULE_FIELDS = ['kind', 'cron', 'timezone', 'intervalMs', 'idleMs', 'event'] as const

export type TriggerRule = Pick<TriggerRecord, (typeof TRIGGER_RULE_FIELDS)[number]>

/** How one kind of trigger differs from the others. */
export interface TriggerKindSpec {
  /**
   * How its occurrences are determined: `clock` from the trigger alone, `activity` from the last activity of runs,
   * `event` by named events, so none is known in advance.
   */
  readonly source: 'clock' | 'activity' | 'event'
  /**
   * Whether the target needs an input of its own; a kind whose fires carry a payload passes on that payload instead.
   */
  readonly needsInput: boolean
  /** Loads what `problemOf` and `next` need. */
  ready(cronSchedule: CronSchedule): Promise<void>
  /** The problem with a rule that fits its schema, starting with the field; `undefined` when it is valid. */
  problemOf(rule: TriggerRule, cronSchedule: CronSchedule): string | undefined
  /** The first occurrence after an instant, exclusively; always `undefined` unless `source` is `clock`. */
  next(trigger: TriggerRecord, after: EpochMs, cronSchedule: CronSchedule): EpochMs | undefined
  /** A short description of when it fires. */
  text(rule: TriggerRule): string
}

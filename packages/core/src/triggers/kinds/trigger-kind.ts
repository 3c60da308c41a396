import type { CronSchedule, EpochMs, TriggerRecord } from '@perdure/ports'

/**
 * The fields that determine when a trigger fires. If code changes one of these fields, the schedule of the trigger
 * starts over.
 */
export const TRIGGER_RULE_FIELDS = ['kind', 'cron', 'timezone', 'intervalMs', 'idleMs', 'event', 'hook'] as const

export type TriggerRule = Pick<TriggerRecord, (typeof TRIGGER_RULE_FIELDS)[number]>

/** How one kind of trigger differs from the others. */
export interface TriggerKindSpec {
  /**
   * What determines the occurrences. `clock`: the trigger alone. `activity`: the last activity of runs. `event`: named
   * events or deliveries, so that no occurrence is known in advance.
   */
  readonly source: 'clock' | 'activity' | 'event'
  /**
   * Whether the target needs an input of its own. False if the fires carry a payload, which becomes the input of the
   * target.
   */
  readonly needsInput: boolean
  /** Loads what `problemOf` and `next` need. */
  ready(cronSchedule: CronSchedule): Promise<void>
  /**
   * The problem with a rule that fits its schema, starting with the name of the field; `undefined` if the rule is
   * valid.
   */
  problemOf(rule: TriggerRule, cronSchedule: CronSchedule): string | undefined
  /** The first occurrence strictly after an instant; always `undefined` unless `source` is `clock`. */
  next(trigger: TriggerRecord, after: EpochMs, cronSchedule: CronSchedule): EpochMs | undefined
  /** A short description of when the trigger fires. */
  text(rule: TriggerRule): string
}

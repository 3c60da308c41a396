import type { CronSchedule, EpochMs, TriggerMembers, TriggerRule } from '@perdure/ports'
import type { Trigger, TriggerKind } from '@perdure/protocol'
import type { InferOutput } from 'valibot'

/** The rule of a trigger of this kind. */
export type RuleOf<Kind extends TriggerKind> = Extract<TriggerRule, { readonly kind: Kind }>

/** The rule of a trigger as the API shows it, without the members of other kinds. */
export type ShownRule = Pick<
  InferOutput<typeof Trigger>,
  'cron' | 'timezone' | 'intervalMs' | 'idleMs' | 'event' | 'hook'
>

/** How one kind of trigger differs from the others. */
export interface TriggerKindSpec<Kind extends TriggerKind> {
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
  /** The rule of a trigger without its other members. If code changes the rule, the schedule of the trigger starts over. */
  ruleOf(trigger: RuleOf<Kind>): RuleOf<Kind>
  /**
   * The problem with a rule that fits its schema, starting with the name of the field; `undefined` if the rule is
   * valid.
   */
  problemOf(rule: RuleOf<Kind>, cronSchedule: CronSchedule): string | undefined
  /** The first occurrence strictly after an instant; always `undefined` unless `source` is `clock`. */
  next(
    trigger: RuleOf<Kind> & Pick<TriggerMembers, 'anchorAt'>,
    after: EpochMs,
    cronSchedule: CronSchedule,
  ): EpochMs | undefined
  /** A short description of when the trigger fires. */
  text(rule: ShownRule): string
}

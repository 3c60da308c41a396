import type { CronRule } from '@perdure/ports'
import type { TriggerKindSpec, TriggerRule } from './trigger-kind.ts'

/** Occurs at the instants of a cron rule. */
export const cron: TriggerKindSpec = {
  source: 'clock',
  needsInput: true,
  ready: (cronSchedule) => cronSchedule.ready(),
  problemOf: (rule, cronSchedule) => cronSchedule.problemOf(cronRuleOf(rule)),
  next: (trigger, after, cronSchedule) => cronSchedule.next(cronRuleOf(trigger), after),
  text(rule) {
    const { cron, timezone } = cronRuleOf(rule)
    return `${cron} ${timezone}`
  },
}

const cronRuleOf = ({ cron = '', timezone = 'UTC' }: TriggerRule): CronRule => ({ cron, timezone })

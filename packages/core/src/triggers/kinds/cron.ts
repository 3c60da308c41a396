import type { TriggerKindSpec } from './trigger-kind.ts'

/** Occurs at the instants of a cron rule. */
export const cron: TriggerKindSpec<'cron'> = {
  source: 'clock',
  needsInput: true,
  ready: (cronSchedule) => cronSchedule.ready(),
  ruleOf: ({ kind, cron, timezone }) => ({ kind, cron, timezone }),
  problemOf: ({ cron, timezone }, cronSchedule) => cronSchedule.problemOf({ cron, timezone }),
  next: ({ cron, timezone }, after, cronSchedule) => cronSchedule.next({ cron, timezone }, after),
  text: ({ cron, timezone }) => `${cron} ${timezone}`,
}

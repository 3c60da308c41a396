import { createCronSchedule } from '@perdure/platform-node'
import type { CronRule, EpochMs } from '@perdure/ports'
import type { LoadedConfig } from '../config/load-config.ts'
import { type Finding, fail, ok } from './finding.ts'
import { shellWord } from './shell-word.ts'

type Trigger = LoadedConfig['triggers'][number]

/** Checks the cron expressions and time zones of the registered triggers, and shows the next fire. */
export async function checkTriggers(
  { triggers }: Pick<LoadedConfig, 'triggers'>,
  now: number,
): Promise<readonly Finding[]> {
  const schedule = createCronSchedule()
  await schedule.ready()
  const rules = triggers.flatMap(ruleOf)
  const problems = rules.flatMap((rule) => {
    const problem = schedule.problemOf(rule)
    return problem === undefined ? [] : [unknownFinding(rule, problem)]
  })
  if (problems.length > 0) return problems
  const times = rules.map((rule) => schedule.next(rule, now as EpochMs) ?? Number.POSITIVE_INFINITY)
  return [ok('triggers', summary(triggers.length, Math.min(...times)))]
}

interface NamedRule extends CronRule {
  readonly id: string
}

const ruleOf = (trigger: Trigger): readonly NamedRule[] =>
  trigger.kind === 'cron' ? [{ id: trigger.id, cron: trigger.cron, timezone: trigger.timezone ?? 'UTC' }] : []

function unknownFinding({ id, cron, timezone }: NamedRule, problem: string): Finding {
  const fix = `fix the trigger until this command succeeds: perdure triggers next ${shellWord(cron)} --tz ${shellWord(timezone)}`
  return fail('triggers', `${id}: ${problem}`, fix)
}

function summary(count: number, next: number): string {
  if (count === 0) return `none registered; ${Intl.supportedValuesOf('timeZone').length} time zones available`
  const when = Number.isFinite(next) ? `, next cron fire at ${new Date(next).toISOString()}` : ''
  return `${count} registered${when}`
}

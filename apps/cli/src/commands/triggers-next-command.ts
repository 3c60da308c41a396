import { createCronSchedule } from '@perdure/platform-node'
import type { CronRule, EpochMs } from '@perdure/ports'
import type { Call } from '../call.ts'
import { usageError } from '../cli-error.ts'

export interface TriggersNextFlags {
  readonly trigger: string
  readonly count: number
  readonly tz?: string
}

interface ComingFire {
  readonly at: string
  /** What the clock of the zone shows then. */
  readonly local: string
  readonly offset: string // such as GMT+02:00
  /** The offset is another one than that of the time before. */
  readonly dst: boolean
}

const MOST = 1_000

export async function triggersNextCommand(call: Call, { trigger, count, tz }: TriggersNextFlags): Promise<void> {
  if (count < 1 || count > MOST) throw usageError('--count is out of range', `give 1 to ${MOST}`)
  const rule = await ruleOf(call, trigger, tz)
  const schedule = createCronSchedule()
  await schedule.ready()
  const problem = schedule.problemOf(rule)
  if (problem !== undefined)
    throw usageError(problem, 'write it with 5 or 6 fields, like "0 9 * * 1-5", and --tz like Europe/Berlin')
  const items: ComingFire[] = []
  let after = Date.now() as EpochMs
  let offset = offsetAt(after, rule.timezone)
  while (items.length < count) {
    const next = schedule.next(rule, after)
    if (next === undefined) break
    const there = offsetAt(next, rule.timezone)
    items.push({
      at: new Date(next).toISOString(),
      local: localAt(next, rule.timezone),
      offset: there,
      dst: there !== offset,
    })
    offset = there
    after = next
  }
  call.out.list({ items, nextCursor: null }, [
    { head: rule.timezone.toUpperCase(), cell: ({ local }) => local },
    { head: 'OFFSET', cell: (fire) => fire.offset },
    { head: 'UTC', cell: ({ at }) => at },
    { head: 'NOTE', cell: ({ dst }) => (dst ? 'DST' : '') },
  ])
}

/** An expression has spaces, and an id has none. */
async function ruleOf(call: Call, trigger: string, tz: string | undefined): Promise<CronRule> {
  if (/\s/.test(trigger.trim())) return { cron: trigger, timezone: tz ?? 'UTC' }
  const { kind, cron, timezone = 'UTC', nextFireAt } = await call.client().triggers.get(trigger)
  if (cron !== undefined) return { cron, timezone: tz ?? timezone }
  throw usageError(
    `${trigger} is a trigger of kind ${kind}`,
    `only cron has times to come; its next fire: ${nextFireAt ?? 'none'}`,
  )
}

const offsetAt = (at: number, timeZone: string): string =>
  new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value ?? ''

const localAt = (at: number, timeZone: string): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'medium' }).format(at)

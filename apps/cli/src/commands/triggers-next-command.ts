import { createCronSchedule } from '@perdure/platform-node'
import type { CronRule, EpochMs } from '@perdure/ports'
import type { Call } from '../call.ts'
import { usageError } from '../cli-error.ts'

export interface TriggersNextFlags {
  readonly trigger: string
  readonly count: number
  readonly tz?: string
}

interface UpcomingFire {
  readonly at: string
  /** Local time in the time zone. */
  readonly local: string
  readonly offset: string // such as GMT+02:00
  /** Whether the offset differs from that of the previous time. */
  readonly dst: boolean
}

const MAX_COUNT = 1_000

export async function triggersNextCommand(call: Call, { trigger, count, tz }: TriggersNextFlags): Promise<void> {
  if (count < 1 || count > MAX_COUNT) throw usageError(`--count ${count} is out of range`, `use 1 to ${MAX_COUNT}`)
  const rule = await ruleOf(call, trigger, tz)
  const schedule = createCronSchedule()
  await schedule.ready()
  const problem = schedule.problemOf(rule)
  if (problem !== undefined)
    throw usageError(problem, 'write 5 or 6 fields like "0 9 * * 1-5", and --tz like Europe/Berlin')
  const items: UpcomingFire[] = []
  let after = Date.now() as EpochMs
  let offset = offsetAt(after, rule.timezone)
  while (items.length < count) {
    const next = schedule.next(rule, after)
    if (next === undefined) break
    const nextOffset = offsetAt(next, rule.timezone)
    items.push({
      at: new Date(next).toISOString(),
      local: localAt(next, rule.timezone),
      offset: nextOffset,
      dst: nextOffset !== offset,
    })
    offset = nextOffset
    after = next
  }
  call.out.list({ items, nextCursor: null }, [
    { head: rule.timezone.toUpperCase(), cell: ({ local }) => local },
    { head: 'OFFSET', cell: (fire) => fire.offset },
    { head: 'UTC', cell: ({ at }) => at },
    { head: 'NOTE', cell: ({ dst }) => (dst ? 'DST' : '') },
  ])
}

/** The cron rule of an expression or of a trigger id. An expression contains spaces, an id does not. */
async function ruleOf(call: Call, trigger: string, tz: string | undefined): Promise<CronRule> {
  if (/\s/.test(trigger.trim())) return { cron: trigger, timezone: tz ?? 'UTC' }
  const { kind, cron, timezone = 'UTC', nextFireAt } = await call.client().triggers.get(trigger)
  if (cron !== undefined) return { cron, timezone: tz ?? timezone }
  throw usageError(
    `${trigger} is a trigger of kind ${kind}, not cron`,
    `pass a cron trigger; the next fire of ${trigger}: ${nextFireAt ?? 'none'}`,
  )
}

const offsetAt = (at: number, timeZone: string): string =>
  new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value ?? ''

const localAt = (at: number, timeZone: string): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'medium' }).format(at)

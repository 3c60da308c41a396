import type { CronRule, CronSchedule, EpochMs } from '@perdure/ports'
import type { CronExpressionParser } from 'cron-parser'
import { type CronFields, nextWall, parseCron } from './cron-fields.ts'
import { type WallMs, wallClockOf } from './wall-clock.ts'

/** Reaches from one 29 February to the next, also across a century that has none. */
const HORIZON_MS = (8 * 365 + 2 + 1) * 86_400_000
const MAX_REMEMBERED = 1_000

/**
 * Cron rules by `cron-parser`, which reads the expression; which instants it names is decided here, because the parser
 * steps through the hours of a zone and so misses changes of its clock by less than an hour.
 */
export function createCronSchedule(): CronSchedule {
  const parsed = new Map<string, CronFields>()
  let parser: typeof CronExpressionParser | undefined

  const fieldsOf = (cron: string): CronFields => {
    const known = parsed.get(cron)
    if (known !== undefined) return known
    if (parser === undefined) throw new Error('ready() comes first')
    const fields = parseCron(cron, parser)
    if (parsed.size === MAX_REMEMBERED) parsed.clear()
    parsed.set(cron, fields)
    return fields
  }

  const next = ({ cron, timezone }: CronRule, after: EpochMs): EpochMs | undefined => {
    const fields = fieldsOf(cron)
    const clock = wallClockOf(timezone)
    const from = clock.at(after)
    const horizon = (from + HORIZON_MS) as WallMs
    for (let wall = nextWall(fields, from, horizon); wall !== undefined; wall = nextWall(fields, wall, horizon)) {
      const instant = clock.instantOf(wall)
      // What the clock shows for the second time has been.
      if (instant > after) return instant
    }
    return undefined
  }

  return {
    async ready() {
      parser ??= (await import('cron-parser')).CronExpressionParser
    },
    problemOf({ cron, timezone }) {
      try {
        fieldsOf(cron)
      } catch (error) {
        return `cron: ${messageOf(error)}`
      }
      if (!isZone(timezone)) return `timezone: ${JSON.stringify(timezone)} is not a name of the IANA time zone database`
      return next({ cron, timezone }, ANY_TIME) === undefined ? 'cron: no day of the calendar matches it' : undefined
    },
    next,
  }
}

/** The horizon from here reaches over every day of the calendar. */
const ANY_TIME = Date.UTC(2024, 0, 1) as EpochMs

/** Names only: an offset like `+02:00` is no zone with a clock of its own. */
function isZone(timezone: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]*$/.test(timezone)) return false
  try {
    wallClockOf(timezone)
    return true
  } catch {
    return false
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

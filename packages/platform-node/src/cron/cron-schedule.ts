import type { CronRule, CronSchedule, EpochMs } from '@perdure/ports'
import type { CronExpressionParser } from 'cron-parser'
import { type CronFields, nextWall, parseCron } from './cron-fields.ts'
import { createWallClocks, type WallClocks, type WallMs } from './wall-clock.ts'

/** Spans two consecutive 29 Februaries, even across a century year that is not a leap year. */
const HORIZON_MS = (8 * 365 + 2 + 1) * 86_400_000
const MAX_CACHED = 1_000

/**
 * Computes the instants of cron schedules. `cron-parser` only parses the expressions: it would step through a time zone
 * in hours and miss clock changes of less than an hour.
 */
export function createCronSchedule(): CronSchedule {
  const parsed = new Map<string, CronFields>()
  const clocks = createWallClocks()
  let parser: typeof CronExpressionParser | undefined

  const fieldsOf = (cron: string): CronFields => {
    const known = parsed.get(cron)
    if (known !== undefined) return known
    if (parser === undefined) throw new Error('createCronSchedule: await ready() before the first use')
    const fields = parseCron(cron, parser)
    if (parsed.size === MAX_CACHED) parsed.clear()
    parsed.set(cron, fields)
    return fields
  }

  const next = ({ cron, timezone }: CronRule, after: EpochMs): EpochMs | undefined => {
    const fields = fieldsOf(cron)
    const clock = clocks.of(timezone)
    const from = clock.at(after)
    const horizon = (from + HORIZON_MS) as WallMs
    for (let wall = nextWall(fields, from, horizon); wall !== undefined; wall = nextWall(fields, wall, horizon)) {
      const instant = clock.instantOf(wall)
      // When the clock is set back, it shows some wall times twice. `instantOf` yields the first occurrence, which may
      // have passed.
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
      if (!isZone(timezone, clocks)) return `timezone: ${JSON.stringify(timezone)} is not an IANA time zone name`
      return next({ cron, timezone }, ANY_TIME) === undefined
        ? 'cron: no day of the calendar matches the expression'
        : undefined
    },
    next,
  }
}

/** From this instant, the horizon covers every day of the calendar. */
const ANY_TIME = Date.UTC(2024, 0, 1) as EpochMs

/** Accepts names only: an offset such as `+02:00` is not a zone. */
function isZone(timezone: string, clocks: WallClocks): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]*$/.test(timezone)) return false
  try {
    clocks.of(timezone)
    return true
  } catch {
    return false
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

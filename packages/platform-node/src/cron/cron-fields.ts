import type { CronExpression, CronExpressionParser } from 'cron-parser'
import type { WallMs } from './wall-clock.ts'

/** The values that the fields of an expression allow, in ascending order. */
export interface CronFields {
  readonly seconds: readonly number[]
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly months: ReadonlySet<number> // from 1
  readonly isDay: (dayOfMonth: number, dayOfWeek: number) => boolean
}

const MAX_LENGTH = 256
const VALUE = '(?:\\d{1,2}|[A-Za-z]{3})'
const ITEM = `(?:\\*|${VALUE}(?:-${VALUE})?)(?:/\\d{1,2})?`
const FIELD = new RegExp(`^${ITEM}(?:,${ITEM})*$`)

/** Parses an expression of five or six fields. @throws Error with the reason why it is invalid */
export function parseCron(cron: string, parser: typeof CronExpressionParser): CronFields {
  const texts = cron.trim().split(/[ \t]+/)
  if (cron.length > MAX_LENGTH) throw new Error(`is longer than ${MAX_LENGTH} characters`)
  if (texts.length < 5 || texts.length > 6) throw new Error('must have five fields, or six with seconds first')
  const names = texts.length === 6 ? NAMES : NAMES.slice(1)
  for (const [at, text] of texts.entries()) {
    const field = `the field ${names[at]}, ${JSON.stringify(text)},`
    if (!FIELD.test(text)) throw new Error(`${field} must be a number, name, range or step, or a list of these`)
    // One field at a time, because the parser does not say which one is invalid.
    const alone = texts.map((_, other) => (other === at ? text : '*')).join(' ')
    try {
      parser.parse(alone, { tz: 'UTC' })
    } catch (error) {
      throw new Error(`${field} ${reasonOf(error)}`)
    }
  }
  return toFields(parser.parse(texts.join(' '), { tz: 'UTC' }))
}

const NAMES = ['second', 'minute', 'hour', 'day of month', 'month', 'day of week'] as const

function reasonOf(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error)
  const [, min, max] = /expected range (\d+)-(\d+)/.exec(reason) ?? []
  return min === undefined ? `is invalid: ${reason}` : `must be within ${min} to ${max}`
}

type Values = ReadonlyArray<number | 'L'>

function toFields({ fields }: CronExpression): CronFields {
  const days = new Set(numbers(fields.dayOfMonth.values))
  const weekdays = new Set(numbers(fields.dayOfWeek.values).map((day) => day % 7))
  const isEither = !fields.dayOfMonth.isWildcard && !fields.dayOfWeek.isWildcard
  return {
    seconds: numbers(fields.second.values),
    minutes: numbers(fields.minute.values),
    hours: numbers(fields.hour.values),
    months: new Set(numbers(fields.month.values)),
    isDay: (day, weekday) =>
      isEither ? days.has(day) || weekdays.has(weekday) : days.has(day) && weekdays.has(weekday),
  }
}

const numbers = (values: Values): readonly number[] =>
  values.filter((value) => typeof value === 'number').sort((one, other) => one - other)

const DAY_MS = 86_400_000

/** Returns the first matching wall time after `after` (exclusive) and up to the horizon. */
export function nextWall(fields: CronFields, after: WallMs, horizon: WallMs): WallMs | undefined {
  const from = Math.floor(after / 1_000) * 1_000 + 1_000
  const today = Math.floor(from / DAY_MS) * DAY_MS
  for (let day = today; day <= horizon; day += DAY_MS) {
    if (!isMatchingDay(fields, day)) continue
    const time = nextTime(fields, day === today ? from - today : 0)
    if (time !== undefined) return day + time <= horizon ? ((day + time) as WallMs) : undefined
  }
  return undefined
}

function isMatchingDay({ months, isDay }: CronFields, day: number): boolean {
  const date = new Date(day)
  return months.has(date.getUTCMonth() + 1) && isDay(date.getUTCDate(), date.getUTCDay())
}

/** Returns the first matching time of a day from `from` on (inclusive); both in milliseconds since midnight. */
function nextTime({ seconds, minutes, hours }: CronFields, from: number): number | undefined {
  const [hour, minute, second] = [Math.floor(from / 3_600_000), Math.floor(from / 60_000) % 60, (from / 1_000) % 60]
  for (const h of hours.filter((value) => value >= hour)) {
    const isThisHour = h === hour
    for (const m of minutes.filter((value) => !isThisHour || value >= minute)) {
      const isThisMinute = isThisHour && m === minute
      const s = seconds.find((value) => !isThisMinute || value >= second)
      if (s !== undefined) return ((h * 60 + m) * 60 + s) * 1_000
    }
  }
  return undefined
}

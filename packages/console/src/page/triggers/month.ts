/** One day of the calendar in the time zone of a trigger. */
export interface Day {
  /** Such as `2026-03-29`. */
  readonly date: string
  readonly dayOfMonth: number
  readonly isOfMonth: boolean
  /** Whether clocks change on this day. */
  readonly isClockChange: boolean
}

/** The weeks of a month, each from Monday. */
export function weeksOf(year: number, month: number, timeZone: string): readonly (readonly Day[])[] {
  const first = new Date(Date.UTC(year, month, 1))
  const start = new Date(first)
  start.setUTCDate(1 - ((first.getUTCDay() + 6) % 7))
  const weeks: Day[][] = []
  for (const at = start; weeks.length < 6 && (weeks.length === 0 || isBefore(at, year, month)); ) {
    const week: Day[] = []
    for (let day = 0; day < 7; day++) {
      const date = at.toISOString().slice(0, 10)
      week.push({
        date,
        dayOfMonth: at.getUTCDate(),
        isOfMonth: at.getUTCMonth() === ((month % 12) + 12) % 12,
        isClockChange: offsetAtNoon(date, timeZone, -1) !== offsetAtNoon(date, timeZone, 0),
      })
      at.setUTCDate(at.getUTCDate() + 1)
    }
    weeks.push(week)
  }
  return weeks
}

/** The week, from Monday, that is `offset` weeks after the week of a date. */
export function weekOf(date: string, offset: number, timeZone: string): readonly Day[] {
  const at = new Date(`${date}T00:00:00Z`)
  at.setUTCDate(at.getUTCDate() + offset * 7)
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.toISOString().slice(0, 10)]
  const week = weeksOf(year, month, timeZone).find((days) => days.some((one) => one.date === day)) ?? []
  return week.map((one) => ({ ...one, isOfMonth: true }))
}

const isBefore = (at: Date, year: number, month: number) => at.getTime() < Date.UTC(year, month + 1, 1)

const DAY_MS = 86_400_000

/** The offset of the zone at the noon (UTC) of a day; clocks change at night. */
function offsetAtNoon(date: string, timeZone: string, plusDays: number): string {
  const at = Date.parse(`${date}T12:00:00Z`) + plusDays * DAY_MS
  return partOf(new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }), at, 'timeZoneName')
}

const partOf = (format: Intl.DateTimeFormat, at: number, type: Intl.DateTimeFormatPartTypes): string =>
  format.formatToParts(at).find((part) => part.type === type)?.value ?? ''

/** The date of an instant in a time zone. */
export const dateIn = (timeZone: string) => {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
  return (at: string): string => format.format(new Date(at))
}

/** The time of day of an instant in a time zone. */
export const timeIn = (timeZone: string) => {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' })
  return (at: string): string => format.format(new Date(at))
}

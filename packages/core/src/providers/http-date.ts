import type { EpochMs } from '@perdure/ports'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const weekday = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const longWeekday = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day'
const day = String.raw`(?<day>0[1-9]|[12]\d|3[01])`
const paddedDay = String.raw`(?<day> [1-9]|[12]\d|3[01])`
const month = `(?<month>${MONTHS.join('|')})`
const time = String.raw`(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d):(?<second>[0-5]\d|60)`

/** The preferred form, and the two obsolete forms that recipients must still accept. */
const FORMS = [
  String.raw`${weekday}, ${day} ${month} (?<year>\d{4}) ${time} GMT`,
  String.raw`${longWeekday}, ${day}-${month}-(?<year>\d{2}) ${time} GMT`,
  String.raw`${weekday} ${month} ${paddedDay} ${time} (?<year>\d{4})`,
].map((form) => new RegExp(`^${form}$`))

export const isHttpDate = (text: string): boolean => FORMS.some((form) => form.test(text))

/**
 * Parses an HTTP-date; returns `undefined` for any other text. `now` determines the century of a two-digit year: a year
 * more than 50 years in the future is taken to be in the past.
 *
 * @see RFC 9110 section 5.6.7
 */
export function parseHttpDate(text: string, now: EpochMs): EpochMs | undefined {
  for (const form of FORMS) {
    const parts = form.exec(text)?.groups
    if (parts !== undefined) return toEpochMs(parts, now)
  }
  return undefined
}

function toEpochMs(parts: Readonly<Record<string, string>>, now: EpochMs): EpochMs {
  const { year = '', month = '', day, hour, minute, second } = parts
  return Date.UTC(
    year.length === 2 ? fullYear(Number(year), now) : Number(year),
    MONTHS.indexOf(month),
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  ) as EpochMs
}

function fullYear(twoDigitYear: number, now: EpochMs): number {
  const thisYear = new Date(now).getUTCFullYear()
  const year = thisYear - (thisYear % 100) + twoDigitYear
  return year > thisYear + 50 ? year - 100 : year
}

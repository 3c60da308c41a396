import { usageError } from './cli-error.ts'

const DAY_LENGTH = 'YYYY-MM-DD'.length
/** Later instants need a year of more than four digits. */
export const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

const ISO_INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/

/** Parses an ISO-8601 instant with a UTC offset to epoch milliseconds. */
export function parseIsoInstant(flag: string, text: string): number {
  const at = ISO_INSTANT.test(text) && isDay(text.slice(0, DAY_LENGTH)) ? Date.parse(text) : Number.NaN
  if (at <= LAST_INSTANT) return at
  throw usageError(`--${flag} is not an ISO-8601 instant: ${text}`, 'write it like 2027-01-31T00:00:00Z')
}

/** Rejects days such as 30 February, which `Date` reads as 2 March. */
function isDay(day: string): boolean {
  const midnight = new Date(`${day}T00:00:00.000Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day)
}

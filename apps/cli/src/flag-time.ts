import { toMilliseconds } from '@perdure/protocol'
import { usageError } from './cli-error.ts'

/** The milliseconds of a text such as `250ms` or `8w`; `NaN` without that form. */
export const millisecondsIn = (text: string): number =>
  DURATION.test(text) ? (toMilliseconds(text) ?? Number.NaN) : Number.NaN

const DURATION = /^\d{1,9}(?:ms|[smhdw])$/

/** Parses `250ms`, `30s`, `5m`, `12h`, `30d` or `8w` to milliseconds. */
export function parseDuration(flag: string, text: string): number {
  const ms = millisecondsIn(text)
  if (ms > 0) return ms
  throw usageError(`--${flag} is not a duration: ${text}`, 'write it like 30s, 5m, 12h or 30d')
}

const INSTANT = /^\d{4}-\d\d-\d\dT/

/** `--since 1h` or `--since 2027-01-31T00:00:00Z` as an ISO-8601 instant. */
export function parseInstant(flag: string, text: string, now: number): string {
  if (!INSTANT.test(text)) return new Date(now - parseDuration(flag, text)).toISOString()
  const at = Date.parse(text)
  if (!Number.isNaN(at)) return new Date(at).toISOString()
  throw usageError(`--${flag} is not an ISO-8601 instant: ${text}`, 'write it like 2027-01-31T00:00:00Z, or 1h')
}

/** The duration of a flag in whole seconds, if it is given. */
export const secondsIn = (flag: string, text: string | undefined): number | undefined =>
  text === undefined ? undefined : Math.ceil(parseDuration(flag, text) / 1_000)

/** The instant of a flag, if it is given. */
export const instantIn = (flag: string, text: string | undefined): string | undefined =>
  text === undefined ? undefined : parseInstant(flag, text, Date.now())

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

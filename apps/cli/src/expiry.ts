import { usageError } from './cli-error.ts'

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

const DAY_LENGTH = 'YYYY-MM-DD'.length
/** Later instants need a year of more than four digits. */
const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

const ISO_INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/

export interface ExpiryFlags {
  /** A duration such as `30d`. */
  readonly expires?: string
  /** An ISO-8601 instant. */
  readonly expiresAt?: string
}

/** The instant set by either flag, in epoch milliseconds; `undefined` without one. */
export function expiryOf({ expires, expiresAt }: ExpiryFlags, now: number): number | undefined {
  if (expires !== undefined && expiresAt !== undefined) {
    throw usageError('--expires and --expires-at cannot be combined', 'use one of them')
  }
  if (expiresAt !== undefined) return instantOf(expiresAt)
  return expires === undefined ? undefined : expiryAfter(expires, now)
}

function instantOf(text: string): number {
  const at = ISO_INSTANT.test(text) && isDay(text.slice(0, DAY_LENGTH)) ? Date.parse(text) : Number.NaN
  if (at <= LAST_INSTANT) return at
  throw usageError(`--expires-at is not an ISO-8601 instant: ${text}`, 'write it like 2027-01-31T00:00:00Z')
}

/** Rejects days such as 30 February, which `Date` reads as 2 March. */
function isDay(day: string): boolean {
  const midnight = new Date(`${day}T00:00:00.000Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day)
}

function expiryAfter(text: string, now: number): number {
  const at = now + parseExpires(text)
  if (at <= LAST_INSTANT) return at
  throw usageError('--expires is after the year 9999', 'omit it for a token that never expires')
}

function parseExpires(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  const ms = Number(count) * (UNIT_MS[unit] ?? Number.NaN)
  if (ms > 0) return ms
  throw usageError(`--expires is not a duration: ${text}`, 'write it like 12h, 30d or 8w')
}

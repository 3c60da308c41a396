import { usageError } from './cli-error.ts'

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** Parses `250ms`, `30s`, `5m`, `12h`, `30d` or `8w` to milliseconds. */
export function parseDuration(flag: string, text: string): number {
  const [, count, unit = ''] = /^(\d{1,9})(ms|[smhdw])$/.exec(text) ?? []
  const ms = Number(count) * (UNIT_MS[unit] ?? Number.NaN)
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

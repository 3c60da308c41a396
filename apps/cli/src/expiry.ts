import { usageError } from './cli-error.ts'
import { LAST_INSTANT, millisecondsIn, parseIsoInstant } from './flag-time.ts'

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
  if (expiresAt !== undefined) return parseIsoInstant('expires-at', expiresAt)
  return expires === undefined ? undefined : expiryAfter(expires, now)
}

function expiryAfter(text: string, now: number): number {
  const at = now + parseExpires(text)
  if (at <= LAST_INSTANT) return at
  throw usageError('--expires is after the year 9999', 'omit it for a token that never expires')
}

function parseExpires(text: string): number {
  const ms = /^\d{1,6}[smhdw]$/.test(text) ? millisecondsIn(text) : 0
  if (ms > 0) return ms
  throw usageError(`--expires is not a duration: ${text}`, 'write it like 12h, 30d or 8w')
}

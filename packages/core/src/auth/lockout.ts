import { isRefusal, type LockoutRecord, perdureError } from '@perdure/ports'
import { createBoundedMap } from '../collections/bounded-map.ts'
import type { Authenticate } from './authenticate.ts'

export interface LockoutOptions {
  /** Failures within `windowMs` after which an address is locked. */
  readonly failures: number
  readonly windowMs: number
  /** Length of the first lock; each further lock is twice as long, up to `longestMs`. */
  readonly firstMs: number
  readonly longestMs: number
  /** Time after a lock until the address starts over with the first lock length. */
  readonly resetAfterMs: number
  /** Maximum number of tracked addresses. Above it, the address with the oldest failure is evicted. */
  readonly maxAddresses: number
}

/**
 * Ten failures within a minute lock an address for one minute. Each further lock is twice as long, up to fifteen
 * minutes. One hour after the last lock, the address starts over at one minute.
 */
export const LOCKOUT: LockoutOptions = {
  failures: 10,
  windowMs: 60_000,
  firstMs: 60_000,
  longestMs: 900_000,
  resetAfterMs: 3_600_000,
  maxAddresses: 100_000,
}

/** Counts failed attempts per client address. */
export interface Lockout {
  /** Remaining lock time in milliseconds; `undefined` if the address is not locked. */
  lockedForMs(address: string): number | undefined
  /** Counts a failure, unless the address is locked: attempts during a lock do not extend the lock. */
  recordFailure(address: string): void
  /** Replaces what is known of an address by what all processes have counted. */
  adopt(address: string, history: FailureHistory): void
  /** Number of tracked addresses. */
  size(): number
}

/** The failures and locks of one address. */
export type FailureHistory = Pick<LockoutRecord, 'failedAt' | 'locks' | 'lockedUntil'>

export const NO_FAILURES: FailureHistory = { failedAt: [], locks: 0, lockedUntil: 0 }

/** The history after one more failure. */
export function afterFailure(
  { failures, windowMs, firstMs, longestMs, resetAfterMs }: LockoutOptions,
  { failedAt, locks: earlier, lockedUntil }: FailureHistory,
  at: number,
): FailureHistory {
  if (lockedUntil > at) return { failedAt, locks: earlier, lockedUntil }
  const locks = lockedUntil + resetAfterMs <= at ? 0 : earlier
  const recent = [...failedAt.filter((one) => one > at - windowMs), at]
  if (recent.length < failures) return { failedAt: recent, locks, lockedUntil }
  return { failedAt: [], locks: locks + 1, lockedUntil: at + Math.min(longestMs, firstMs * 2 ** locks) }
}

/**
 * @param now monotonic if only this process counts, otherwise a clock that all processes share
 * @param onFailure called for each failure that counts
 */
export function createLockout(
  now: () => number,
  options: LockoutOptions,
  onFailure: (address: string, at: number) => void = () => undefined,
): Lockout {
  const histories = createBoundedMap<string, FailureHistory>(options.maxAddresses)

  return {
    lockedForMs(address) {
      const leftMs = (histories.get(address)?.lockedUntil ?? 0) - now()
      return leftMs > 0 ? leftMs : undefined
    },
    recordFailure(address) {
      const at = now()
      const history = histories.get(address) ?? NO_FAILURES
      if (history.lockedUntil > at) return
      histories.set(address, afterFailure(options, history, at))
      onFailure(address, at)
    },
    adopt: histories.set,
    size: histories.size,
  }
}

/** Limits failed authentication attempts per address, for every kind of credential. */
export interface AttemptLimiter {
  /**
   * Must be called before a credential is checked.
   *
   * @throws PerdureError `auth-locked-out` if the address is locked and locks also block valid credentials
   */
  admit(address: string): void
  /** Counts a refused credential. @throws PerdureError `auth-locked-out` if the address is locked */
  recordRefusal(address: string): void
}

/** For servers without authentication. */
export const NO_ATTEMPT_LIMIT: AttemptLimiter = { admit: () => undefined, recordRefusal: () => undefined }

/**
 * Rejects failed attempts from a locked address with `auth-locked-out`. A valid credential still passes, so that
 * clients behind a shared address cannot lock each other out; with `blockValid`, valid credentials are refused as well.
 */
export function createAttemptLimiter(lockout: Lockout, blockValid: boolean): AttemptLimiter {
  const refuseLocked = (address: string) => {
    const retryAfterMs = lockout.lockedForMs(address)
    if (retryAfterMs !== undefined) throw perdureError('auth-locked-out', { retryAfter: retryAfterMs })
  }

  return {
    admit: (address) => {
      if (blockValid) refuseLocked(address)
    },
    recordRefusal(address) {
      refuseLocked(address)
      lockout.recordFailure(address)
    },
  }
}

export function withAttemptLimit(authenticate: Authenticate, attempts: AttemptLimiter): Authenticate {
  return async (authorization, address, kind) => {
    if (address === undefined) return authenticate(authorization, address, kind)
    if (authorization !== undefined) attempts.admit(address)
    try {
      return await authenticate(authorization, address, kind)
    } catch (error) {
      if (isFailure(error)) attempts.recordRefusal(address)
      throw error
    }
  }
}

const FAILURES: ReadonlySet<string> = new Set(['auth-invalid', 'auth-revoked', 'auth-expired'])

/** Excludes `auth-required`: a request without credentials is not an attempt. */
const isFailure = (error: unknown): boolean => isRefusal(error) && FAILURES.has(error.code)

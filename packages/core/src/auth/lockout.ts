import { AppError, type Clock } from '@perdure/ports'
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

/** Counts failed attempts per client address, on the monotonic clock. */
export interface Lockout {
  /** Remaining lock time in milliseconds; `undefined` if the address is not locked. */
  lockedForMs(address: string): number | undefined
  /** Counts a failure, unless the address is locked: attempts during a lock do not extend the lock. */
  recordFailure(address: string): void
  /** Number of tracked addresses. */
  size(): number
}

interface AddressRecord {
  readonly failedAt: readonly number[] // failures within the window and since the last lock
  readonly locks: number
  readonly lockedUntil: number
}

const NO_FAILURES: AddressRecord = { failedAt: [], locks: 0, lockedUntil: Number.NEGATIVE_INFINITY }

export function createLockout(clock: Clock, options: LockoutOptions): Lockout {
  const { failures, windowMs, firstMs, longestMs, resetAfterMs, maxAddresses } = options
  const records = createBoundedMap<string, AddressRecord>(maxAddresses)

  const recordOf = (address: string, now: number): AddressRecord => {
    const record = records.get(address) ?? NO_FAILURES
    return record.locks > 0 && record.lockedUntil + resetAfterMs <= now ? { ...record, locks: 0 } : record
  }

  return {
    lockedForMs(address) {
      const leftMs = (records.get(address)?.lockedUntil ?? 0) - clock.monotonicMs()
      return leftMs > 0 ? leftMs : undefined
    },
    recordFailure(address) {
      const now = clock.monotonicMs()
      const { failedAt, locks, lockedUntil } = recordOf(address, now)
      if (lockedUntil > now) return
      const recent = [...failedAt.filter((at) => at > now - windowMs), now]
      if (recent.length < failures) return records.set(address, { failedAt: recent, locks, lockedUntil })
      const lockMs = Math.min(longestMs, firstMs * 2 ** locks)
      records.set(address, { failedAt: [], locks: locks + 1, lockedUntil: now + lockMs })
    },
    size: records.size,
  }
}

/** Limits failed authentication attempts per address, for every kind of credential. */
export interface AttemptLimiter {
  /**
   * Must be called before a credential is checked.
   *
   * @throws AppError `auth-locked-out` if the address is locked and locks also block valid credentials
   */
  admit(address: string): void
  /** Counts a refused credential. @throws AppError `auth-locked-out` if the address is locked */
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
    if (retryAfterMs !== undefined) throw new AppError('auth-locked-out', { retryAfterMs })
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
  return async (authorization, address) => {
    if (address === undefined) return authenticate(authorization, address)
    if (authorization !== undefined) attempts.admit(address)
    try {
      return await authenticate(authorization, address)
    } catch (error) {
      if (isFailure(error)) attempts.recordRefusal(address)
      throw error
    }
  }
}

const FAILURES: ReadonlySet<string> = new Set(['auth-invalid', 'auth-revoked', 'auth-expired'])

/** Excludes `auth-required`: a request without credentials is not an attempt. */
const isFailure = (error: unknown): boolean => error instanceof AppError && FAILURES.has(error.id)

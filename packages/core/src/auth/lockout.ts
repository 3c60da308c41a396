import { AppError, type Clock } from '@berth/ports'
import { createBoundedMap } from '../bounded-map.ts'
import type { Authenticate } from './authenticate.ts'

export interface LockoutOptions {
  /** Failures from one address within `windowMs` that lock it. */
  readonly failures: number
  readonly windowMs: number
  /** Of the first lock; each further one is twice as long, up to `longestMs`. */
  readonly firstMs: number
  readonly longestMs: number
  /** How long after a lock the address counts as blameless again. */
  readonly forgetMs: number
  /** Addresses remembered; over it the one that failed longest ago is forgotten. */
  readonly maxAddresses: number
}

/** Ten failures in a minute lock for a minute, then two, up to fifteen; forgotten after an hour. */
export const LOCKOUT: LockoutOptions = {
  failures: 10,
  windowMs: 60_000,
  firstMs: 60_000,
  longestMs: 900_000,
  forgetMs: 3_600_000,
  maxAddresses: 100_000,
}

/** Counts failed attempts per client address, on the monotonic clock. */
export interface Lockout {
  /** How long the address stays locked; `undefined` when it is not. Milliseconds. */
  lockedForMs(address: string): number | undefined
  /** Counts a failure, unless the address is locked: what is refused then does not make it longer. */
  failed(address: string): void
  /** Addresses remembered. */
  size(): number
}

interface Culprit {
  readonly failedAt: readonly number[] // within the window; since the last lock
  readonly locks: number
  readonly lockedUntil: number
}

const BLAMELESS: Culprit = { failedAt: [], locks: 0, lockedUntil: Number.NEGATIVE_INFINITY }

export function createLockout(clock: Clock, options: LockoutOptions): Lockout {
  const { failures, windowMs, firstMs, longestMs, forgetMs, maxAddresses } = options
  const culprits = createBoundedMap<string, Culprit>(maxAddresses)

  const recall = (address: string, now: number): Culprit => {
    const culprit = culprits.get(address) ?? BLAMELESS
    return culprit.locks > 0 && culprit.lockedUntil + forgetMs <= now ? { ...culprit, locks: 0 } : culprit
  }

  return {
    lockedForMs(address) {
      const leftMs = (culprits.get(address)?.lockedUntil ?? 0) - clock.monotonicMs()
      return leftMs > 0 ? leftMs : undefined
    },
    failed(address) {
      const now = clock.monotonicMs()
      const { failedAt, locks, lockedUntil } = recall(address, now)
      if (lockedUntil > now) return
      const recent = [...failedAt.filter((at) => at > now - windowMs), now]
      if (recent.length < failures) return culprits.set(address, { failedAt: recent, locks, lockedUntil })
      const lockMs = Math.min(longestMs, firstMs * 2 ** locks)
      culprits.set(address, { failedAt: [], locks: locks + 1, lockedUntil: now + lockMs })
    },
    size: culprits.size,
  }
}

/**
 * Refuses failing attempts from a locked address. A valid token still passes, so that nobody is locked out by what others
 * behind the same address do; with `blockValid` it does not.
 */
export function withLockout(authenticate: Authenticate, lockout: Lockout, blockValid: boolean): Authenticate {
  const refuseLocked = (address: string) => {
    const retryAfterMs = lockout.lockedForMs(address)
    if (retryAfterMs !== undefined) throw new AppError('auth-locked-out', { retryAfterMs })
  }

  return async (authorization, address) => {
    if (blockValid && authorization !== undefined) refuseLocked(address)
    try {
      return await authenticate(authorization, address)
    } catch (error) {
      if (!isFailure(error)) throw error
      refuseLocked(address)
      lockout.failed(address)
      throw error
    }
  }
}

const FAILURES: ReadonlySet<string> = new Set(['auth-invalid', 'auth-revoked', 'auth-expired'])

/** A request without credentials has not tried any. */
const isFailure = (error: unknown): boolean => error instanceof AppError && FAILURES.has(error.id)

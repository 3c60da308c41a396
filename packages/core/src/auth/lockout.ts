import { AppError, type Clock } from '@perdure/ports'
import { createBoundedMap } from '../collections/bounded-map.ts'
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

/** The failed attempts of addresses, whatever the credential. */
export interface Attempts {
  /** Before a credential is looked at. @throws AppError `auth-locked-out` where a lock keeps out valid ones too */
  admit(address: string): void
  /** A credential was refused. @throws AppError `auth-locked-out` instead, from a locked address */
  refused(address: string): void
}

/** Where nobody has to show anything. */
export const NO_ATTEMPTS: Attempts = { admit: () => undefined, refused: () => undefined }

/**
 * Refuses failing attempts from a locked address. A valid credential still passes, so that nobody is locked out by what
 * others behind the same address do; with `blockValid` it does not.
 */
export function createAttempts(lockout: Lockout, blockValid: boolean): Attempts {
  const refuseLocked = (address: string) => {
    const retryAfterMs = lockout.lockedForMs(address)
    if (retryAfterMs !== undefined) throw new AppError('auth-locked-out', { retryAfterMs })
  }

  return {
    admit: (address) => {
      if (blockValid) refuseLocked(address)
    },
    refused(address) {
      refuseLocked(address)
      lockout.failed(address)
    },
  }
}

export function withAttempts(authenticate: Authenticate, attempts: Attempts): Authenticate {
  return async (authorization, address) => {
    if (authorization !== undefined) attempts.admit(address)
    try {
      return await authenticate(authorization, address)
    } catch (error) {
      if (isFailure(error)) attempts.refused(address)
      throw error
    }
  }
}

const FAILURES: ReadonlySet<string> = new Set(['auth-invalid', 'auth-revoked', 'auth-expired'])

/** A request without credentials has not tried any. */
const isFailure = (error: unknown): boolean => error instanceof AppError && FAILURES.has(error.id)

/** The failed attempts of a client address, and its locks. Times are in milliseconds on a clock that all processes share. */
export interface LockoutRecord {
  readonly address: string
  readonly failedAt: readonly number[] // counted failures since the last lock, oldest first
  readonly locks: number // since the address started over
  readonly lockedUntil: number // end of the last lock; 0 without one
  readonly version: number // from 1
}

/**
 * Port. Keeps failed attempts for processes that count them together; they need not survive a restart. A single process
 * needs no store: it counts in memory. Must pass `lockoutStoreContract`.
 */
export interface LockoutStore {
  /** Returns the records of these addresses, in no particular order. */
  find(addresses: readonly string[]): Promise<readonly LockoutRecord[]>
  /**
   * Stores each record if its version is one more than that of the stored record, or 1 if none is stored. Of concurrent
   * callers with the same version, one succeeds.
   *
   * @returns the addresses whose records were not stored
   */
  put(records: readonly LockoutRecord[]): Promise<readonly string[]>
  /** Returns up to `limit` records with `lockedUntil > now`, those that end last first (ties by address). */
  locked(now: number, limit: number): Promise<readonly LockoutRecord[]>
  /** Deletes up to `limit` records without a failure or the end of a lock at `before` or later. Returns how many. */
  prune(before: number, limit: number): Promise<number>
}

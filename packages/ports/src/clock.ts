/** Milliseconds since 1970-01-01T00:00:00Z on the wall clock. */
export type EpochMs = number & { readonly __unit: 'EpochMs' }

export const plusMs = (at: EpochMs, ms: number): EpochMs => (at + ms) as EpochMs

/** Clocks that differ by more than this many milliseconds are not the same. */
export const MAX_CLOCK_SKEW_MS = 2_000

/** Port. The wall clock can jump; measure durations on the monotonic clock. */
export interface Clock {
  now(): EpochMs
  /** Milliseconds since an arbitrary origin; never decreases. */
  monotonicMs(): number
}

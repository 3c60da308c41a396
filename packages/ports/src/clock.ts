/** Milliseconds since 1970-01-01T00:00:00Z, from the wall clock. */
export type EpochMs = number & { readonly __unit: 'EpochMs' }

export const plusMs = (at: EpochMs, ms: number): EpochMs => (at + ms) as EpochMs

/** Port. The wall clock may step; durations are measured on the monotonic one. */
export interface Clock {
  now(): EpochMs
  /** Milliseconds from an arbitrary origin; never goes back. */
  monotonicMs(): number
}

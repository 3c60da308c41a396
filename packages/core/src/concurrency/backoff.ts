/** Exponential backoff. Durations in milliseconds. */
export interface Backoff {
  readonly delayMs?: number | undefined // 200 when missing
  readonly factor?: number | undefined // 2 when missing
  readonly maxDelayMs?: number | undefined // 30,000 when missing
}

/** The delay before the next try. @param failures tries that have failed so far, from 1 */
export function backoffMs({ delayMs = 200, factor = 2, maxDelayMs = 30_000 }: Backoff, failures: number): number {
  return Math.min(maxDelayMs, delayMs * factor ** Math.min(failures - 1, 60))
}

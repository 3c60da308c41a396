import type { Clock } from '@perdure/ports'

/** The wall clock is considered changed if it deviates from the monotonic clock by more than this many milliseconds. */
const STEP_MS = 2_000

/** Returns a function that reports whether the wall clock was changed since the previous call of that function. */
export function watchClock(clock: Clock): () => boolean {
  let wall: number = clock.now()
  let monotonic = clock.monotonicMs()

  return () => {
    const [wallNow, monotonicNow] = [clock.now(), clock.monotonicMs()]
    const isStep = Math.abs(wallNow - wall - (monotonicNow - monotonic)) > STEP_MS
    wall = wallNow
    monotonic = monotonicNow
    return isStep
  }
}

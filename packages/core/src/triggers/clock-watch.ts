import type { Clock } from '@perdure/ports'

/** How far the wall clock may run ahead of or behind the monotonic clock before it counts as set. Milliseconds. */
const STEP_MS = 2_000

/** The returned function tells whether the wall clock was set since its last call. */
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

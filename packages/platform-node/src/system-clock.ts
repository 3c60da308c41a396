import type { Clock, EpochMs } from '@perdure/ports'

/** The clocks of this machine. */
export const systemClock: Clock = {
  now: () => Date.now() as EpochMs,
  monotonicMs: () => performance.now(),
}

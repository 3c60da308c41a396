import type { Clock } from '@perdure/ports'
import { createBoundedMap } from '../collections/bounded-map.ts'

export interface SlidingWindowOptions {
  readonly limit: number // accepted takes per window and key
  readonly windowMs: number
  readonly maxKeys: number // over it the key that was idle longest is forgotten
}

export interface Take {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  /** Until one more take is allowed (when refused) or the oldest one leaves the window. Milliseconds. */
  readonly resetMs: number
}

export interface SlidingWindow {
  /** Counts one request of the key unless the window is full. A refusal does not count. */
  take(key: string): Take
  /** Keys remembered. */
  size(): number
}

/** Exact sliding window on the monotonic clock: no window of `windowMs` ever holds more than `limit` accepted takes. */
export function createSlidingWindow(clock: Clock, { limit, windowMs, maxKeys }: SlidingWindowOptions): SlidingWindow {
  const windows = createBoundedMap<string, Taken>(maxKeys)

  const windowOf = (key: string): Taken => {
    const taken = windows.get(key) ?? noneTaken()
    windows.set(key, taken)
    return taken
  }

  return {
    size: windows.size,
    take: (key) => takeFrom(windowOf(key), clock.monotonicMs(), { limit, windowMs }),
  }
}

/** When the accepted takes of somebody were, from the one at `first` on. Monotonic milliseconds. */
export interface Taken {
  times: number[]
  first: number
}

export const noneTaken = (): Taken => ({ times: [], first: 0 })

/** One take at `now`, for who keeps what was taken where it belongs instead of under a key. */
export function takeFrom(
  taken: Taken,
  now: number,
  { limit, windowMs }: Pick<SlidingWindowOptions, 'limit' | 'windowMs'>,
): Take {
  dropThrough(taken, now - windowMs)
  const allowed = taken.times.length - taken.first < limit
  if (allowed) add(taken, now)
  const { times, first } = taken
  const oldest = times[first] ?? now
  return { allowed, limit, remaining: limit - (times.length - first), resetMs: oldest + windowMs - now }
}

const COMPACT_AT = 512
/** An array that is pushed to makes room for 17 at once, and of the many that are kept most have one or two. */
const FEW = 4

function add(taken: Taken, now: number): void {
  if (taken.times.length < FEW) taken.times = taken.times.concat(now)
  else taken.times.push(now)
}

function dropThrough(taken: Taken, through: number): void {
  const { times } = taken
  while (taken.first < times.length && (times[taken.first] as number) <= through) taken.first++
  // Seldom, and no more than was dropped: to move what is left costs as much as there is of it.
  if (taken.first < times.length && (taken.first < COMPACT_AT || taken.first * 2 < times.length)) return
  times.splice(0, taken.first)
  taken.first = 0
}

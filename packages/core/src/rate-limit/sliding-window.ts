import type { Clock } from '@berth/ports'
import { createBoundedMap } from '../bounded-map.ts'

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
  const windows = createBoundedMap<string, number[]>(maxKeys)

  const windowOf = (key: string): number[] => {
    const times = windows.get(key) ?? []
    windows.set(key, times)
    return times
  }

  return {
    size: windows.size,
    take(key) {
      const now = clock.monotonicMs()
      const times = windowOf(key)
      const live = times.findIndex((time) => time > now - windowMs)
      times.splice(0, live === -1 ? times.length : live)
      const allowed = times.length < limit
      if (allowed) times.push(now)
      const oldest = times[0] ?? now
      return { allowed, limit, remaining: limit - times.length, resetMs: oldest + windowMs - now }
    },
  }
}

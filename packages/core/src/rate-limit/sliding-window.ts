import type { Clock } from '@perdure/ports'
import { createBoundedMap } from '../collections/bounded-map.ts'

export interface SlidingWindowOptions {
  readonly limit: number // accepted requests per window and key
  readonly windowMs: number
  readonly maxKeys: number // above it, the least recently used key is evicted
}

export interface Take {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  /** Milliseconds until the oldest request leaves the window; after a rejection, until the next request is accepted. */
  readonly resetMs: number
}

export interface SlidingWindow {
  /** Counts one request for the key, unless the window is full. A rejected request does not count. */
  take(key: string): Take
  /** Number of tracked keys. */
  size(): number
}

/**
 * Exact sliding window on the monotonic clock: no interval of `windowMs` ever contains more than `limit` accepted
 * requests.
 */
export function createSlidingWindow(clock: Clock, { limit, windowMs, maxKeys }: SlidingWindowOptions): SlidingWindow {
  const windows = createBoundedMap<string, WindowState>(maxKeys)

  const windowOf = (key: string): WindowState => {
    const window = windows.get(key) ?? emptyWindow()
    windows.set(key, window)
    return window
  }

  return {
    size: windows.size,
    take: (key) => takeFrom(windowOf(key), clock.monotonicMs(), { limit, windowMs }),
  }
}

/** Times of the accepted requests, from index `first` on, in monotonic milliseconds. */
export interface WindowState {
  times: number[]
  first: number
}

export const emptyWindow = (): WindowState => ({ times: [], first: 0 })

/** Counts one request at `now` in a window that the caller stores, instead of a window that is stored under a key. */
export function takeFrom(
  window: WindowState,
  now: number,
  { limit, windowMs }: Pick<SlidingWindowOptions, 'limit' | 'windowMs'>,
): Take {
  dropThrough(window, now - windowMs)
  const allowed = window.times.length - window.first < limit
  if (allowed) add(window, now)
  const { times, first } = window
  const oldest = times[first] ?? now
  return { allowed, limit, remaining: limit - (times.length - first), resetMs: oldest + windowMs - now }
}

const COMPACT_AT = 512
/** `push` reserves room for 17 elements, but most of the many windows have one or two requests. */
const CONCAT_BELOW = 4

function add(window: WindowState, now: number): void {
  if (window.times.length < CONCAT_BELOW) window.times = window.times.concat(now)
  else window.times.push(now)
}

function dropThrough(window: WindowState, through: number): void {
  const { times } = window
  while (window.first < times.length && (times[window.first] as number) <= through) window.first++
  // Compacting moves the remaining times, so wait until at least as many times have been dropped.
  if (window.first < times.length && (window.first < COMPACT_AT || window.first * 2 < times.length)) return
  times.splice(0, window.first)
  window.first = 0
}

import type { EventRange, EventStream, TailedEvent, WatchedStreams } from '@perdure/ports'
import type { RecentEvent } from './event-ring.ts'
import type { HotCache, HotCacheStats } from './hot-cache.ts'
import { createLogCoverage } from './log-coverage.ts'
import { createStreamMap, nameOfStream, STREAM_KINDS, type StreamName } from './stream-map.ts'

/**
 * `wake` is called for each publication to a watched stream. It receives the watcher itself, so that one function can
 * serve any number of watchers.
 */
export interface Watcher {
  wake(watcher: this): void
}

/**
 * Wakes readers of the event log and caches the recent events of watched streams. A reader is a position in the log,
 * not a queue.
 */
export interface EventHub {
  /** Wakes every watcher of every stream that these events belong to. Called when the events are durable. */
  publish(events: readonly TailedEvent[]): void
  /** Discards the cached events. Called when something was deleted from the log. */
  invalidate(): void
  /**
   * Discards the cached events and wakes every watcher. Called when another process may have written to the log, up to
   * this position.
   */
  refresh(position: number): void
  /**
   * Whether the log has an event up to this position that was not published: it was written by another process, or its
   * commit is still being published.
   */
  misses(position: number): boolean
  /** Changes with each `invalidate`. A page that was read under another generation may contain deleted events. */
  generation(): number
  /**
   * Changes with each `publish` and `invalidate`. Until the version changes, a repeated read returns the same events.
   */
  version(): number
  /** Wakes the watcher after each publication to the stream. */
  watch(stream: EventStream, watcher: Watcher): void
  /**
   * Stops waking the watcher; a no-op if the watcher does not watch the stream. Returns whether the stream has watchers
   * left.
   */
  unwatch(stream: EventStream, watcher: Watcher): boolean
  /** The streams that have watchers. */
  watched(): WatchedStreams
  hasWatchers(): boolean
  /** The next events of the stream after a position, from memory; `undefined` when they must be read from the log. */
  recent(stream: EventStream, range: EventRange): readonly RecentEvent[] | undefined
  stats(): HotCacheStats
}

const EMPTY_STATS: HotCacheStats = { events: 0, subjects: 0, bytes: 0 }

/**
 * Without a cache, every reader reads the log. With a cache, a reader still goes to the log for events that
 * were published while its stream was not watched.
 */
export function createEventHub(cache?: HotCache): EventHub {
  const watchers = createStreamMap<Set<Watcher>>()
  let generation = 0
  let published = 0
  const coverage = createLogCoverage()
  const isWatched = (kind: StreamName['kind'], id: string) => watchers.find(kind, id) !== undefined

  /** The watchers of every stream that carries one of the events. */
  const watchersOf = (events: readonly TailedEvent[]): ReadonlySet<Set<Watcher>> => {
    const sets = new Set<Set<Watcher>>()
    for (const event of events) {
      for (const kind of STREAM_KINDS) {
        const id = event[kind]
        const set = id === undefined ? undefined : watchers.find(kind, id)
        if (set !== undefined) sets.add(set)
      }
    }
    return sets
  }

  const invalidate = () => {
    generation++
    cache?.clear()
  }

  return {
    publish(events) {
      published++
      coverage.add(events)
      if (watchers.size() === 0) return cache?.skip(events)
      cache?.add(events, isWatched)
      for (const set of watchersOf(events)) for (const watcher of set) watcher.wake(watcher)
    },
    invalidate,
    refresh(position) {
      generation++
      cache?.clear(position)
      coverage.coverThrough(position)
      for (const set of watchers.values()) for (const watcher of set) watcher.wake(watcher)
    },
    misses: coverage.misses,
    generation: () => generation,
    version: () => generation + published,
    watch(stream, watcher) {
      const name = nameOfStream(stream)
      const set = watchers.get(name)
      if (set === undefined) watchers.set(name, new Set([watcher]))
      else set.add(watcher)
    },
    unwatch(stream, watcher) {
      const name = nameOfStream(stream)
      const set = watchers.get(name)
      if (set === undefined) return false
      if (!set.delete(watcher) || set.size > 0) return true
      watchers.delete(name)
      cache?.evict(name)
      return false
    },
    watched: () => ({
      runIds: watchers.ids('runId'),
      sessionIds: watchers.ids('sessionId'),
      topics: watchers.ids('topic'),
    }),
    hasWatchers: () => watchers.size() > 0,
    recent: (stream, range) => cache?.read(stream, range),
    stats: () => cache?.stats() ?? EMPTY_STATS,
  }
}

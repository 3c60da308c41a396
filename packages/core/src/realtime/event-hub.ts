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

interface Watched {
  readonly name: StreamName
  readonly watchers: Set<Watcher>
}

const EMPTY_STATS: HotCacheStats = { events: 0, subjects: 0, bytes: 0 }

/**
 * Without a cache, every reader reads the log. With a cache, a reader still goes to the log for events that
 * were published while its stream was not watched, and for those that the only other reader has read.
 */
export function createEventHub(cache?: HotCache): EventHub {
  const watched = createStreamMap<Watched>()
  let generation = 0
  let published = 0
  const coverage = createLogCoverage()
  const isWatched = (kind: StreamName['kind'], id: string) => watched.find(kind, id) !== undefined

  /** Every watched stream that carries one of the events. */
  const watchedBy = (events: readonly TailedEvent[]): ReadonlySet<Watched> => {
    const streams = new Set<Watched>()
    for (const event of events) {
      for (const kind of STREAM_KINDS) {
        const id = event[kind]
        const stream = id === undefined ? undefined : watched.find(kind, id)
        if (stream !== undefined) streams.add(stream)
      }
    }
    return streams
  }

  const wakeAll = ({ watchers }: Watched) => {
    for (const watcher of watchers) watcher.wake(watcher)
  }

  const invalidate = () => {
    generation++
    cache?.clear()
  }

  return {
    publish(events) {
      published++
      coverage.add(events)
      if (watched.size() === 0) return cache?.skip(events)
      cache?.add(events, isWatched)
      for (const stream of watchedBy(events)) {
        wakeAll(stream)
        // A reader that is up to date reads when it is woken; nobody else needs these events from memory.
        if (stream.watchers.size === 1) cache?.release(stream.name)
      }
    },
    invalidate,
    refresh(position) {
      generation++
      cache?.clear(position)
      coverage.coverThrough(position)
      for (const stream of watched.values()) wakeAll(stream)
    },
    misses: coverage.misses,
    generation: () => generation,
    version: () => generation + published,
    watch(stream, watcher) {
      const name = nameOfStream(stream)
      const known = watched.get(name)
      if (known === undefined) watched.set(name, { name, watchers: new Set([watcher]) })
      else known.watchers.add(watcher)
    },
    unwatch(stream, watcher) {
      const name = nameOfStream(stream)
      const watchers = watched.get(name)?.watchers
      if (watchers === undefined) return false
      if (!watchers.delete(watcher) || watchers.size > 0) return true
      watched.delete(name)
      cache?.evict(name)
      return false
    },
    watched: () => ({
      runIds: watched.ids('runId'),
      sessionIds: watched.ids('sessionId'),
      topics: watched.ids('topic'),
    }),
    hasWatchers: () => watched.size() > 0,
    recent: (stream, range) => cache?.read(stream, range),
    stats: () => cache?.stats() ?? EMPTY_STATS,
  }
}

import type { EventRange, EventStream, StoredEvent, UnitOfWork, Write } from '@perdure/ports'
import type { HotCache, HotCacheStats, RecentEvent } from './hot-cache.ts'
import { type StreamKeys, streamKey, streamKeysOfEach } from './stream-key.ts'

/** Who is told of publications. It is handed itself, so that one function serves any number of watchers. */
export interface Watcher {
  wake(watcher: this): void
}

/**
 * Wakes readers of the event log and holds the recent end of the streams that are watched. A reader is a position in the log,
 * not a queue.
 */
export interface EventHub {
  /** Tells every watcher of every stream these events belong to. Called after they are durable. */
  publish(events: readonly StoredEvent[]): void
  /** Forgets what it holds: something was deleted from the log. */
  forget(): void
  /** How often it has forgotten: what was read from the log before may be gone. */
  forgotten(): number
  /** How often it has published or forgotten: as long as it does neither, the same read finds the same. */
  changes(): number
  /** Wakes the watcher after each publication to the stream. */
  watch(stream: EventStream, watcher: Watcher): void
  /** Ends it; a no-op for who does not watch the stream. */
  unwatch(stream: EventStream, watcher: Watcher): void
  /** The next events of the stream after a position, from memory; `undefined` when only the log can tell. */
  recent(stream: EventStream, range: EventRange): readonly RecentEvent[] | undefined
  stats(): HotCacheStats
}

const NOTHING: HotCacheStats = { events: 0, subjects: 0, bytes: 0 }

/** Without a cache every reader reads the log, as one does who comes back to a stream that nobody watched in between. */
export function createEventHub(cache?: HotCache): EventHub {
  const watchers = new Map<string, Set<Watcher>>()
  let forgotten = 0
  let published = 0
  const isWatched = (key: string) => watchers.has(key)

  return {
    publish(events) {
      published++
      if (watchers.size === 0) return cache?.skip(events)
      const keys = streamKeysOfEach(events)
      cache?.add(events, keys, isWatched)
      for (const key of touchedBy(keys)) for (const watcher of watchers.get(key) ?? []) watcher.wake(watcher)
    },
    forget() {
      forgotten++
      cache?.clear()
    },
    forgotten: () => forgotten,
    changes: () => forgotten + published,
    watch(stream, watcher) {
      const key = streamKey(stream)
      const set = watchers.get(key)
      if (set === undefined) watchers.set(key, new Set([watcher]))
      else set.add(watcher)
    },
    unwatch(stream, watcher) {
      const key = streamKey(stream)
      const set = watchers.get(key)
      if (set === undefined || !set.delete(watcher) || set.size > 0) return
      watchers.delete(key)
      cache?.leave(key)
    },
    recent: (stream, range) => cache?.read(stream, range),
    stats: () => cache?.stats() ?? NOTHING,
  }
}

function touchedBy(keys: StreamKeys): ReadonlySet<string> {
  const touched = new Set<string>()
  for (const ofEvent of keys) for (const key of ofEvent) touched.add(key)
  return touched
}

/**
 * Publishes the events of every commit once it is durable, and forgets what a commit may have deleted: of the log, and of
 * the answers that are remembered.
 */
export function withPublication(unitOfWork: UnitOfWork, hub: EventHub, answers?: { clear(): void }): UnitOfWork {
  return {
    async commit(writes) {
      const outcome = await unitOfWork.commit(writes)
      if (!outcome.committed) return outcome
      if (writes.some(deletes)) {
        hub.forget()
        answers?.clear()
      }
      if (outcome.events.length > 0) hub.publish(outcome.events)
      return outcome
    },
  }
}

const deletes = ({ type }: Write): boolean => type.endsWith('.delete')

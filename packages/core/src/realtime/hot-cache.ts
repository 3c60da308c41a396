import {
  type Clock,
  type EventRange,
  type EventStream,
  type StoredEvent,
  type TailedEvent,
  utf8Length,
} from '@perdure/ports'
import {
  appendToRing,
  createEventRing,
  type EventRing,
  isRingExpired,
  type RecentEvent,
  type RingEntry,
  type RingLimits,
  readRing,
  releaseRing,
  ringEnd,
  ringLength,
  trimRing,
} from './event-ring.ts'
import { createLruList } from './lru-list.ts'
import { createStreamMap, nameOfStream, STREAM_KINDS, type StreamName } from './stream-map.ts'

export interface HotCacheLimits extends RingLimits {
  readonly maxBytes: number // all streams together
}

export type IsKept = (kind: StreamName['kind'], id: string) => boolean

export interface HotCacheStats {
  readonly events: number
  readonly subjects: number
  readonly bytes: number
}

/**
 * Recent events in memory, in front of the log. A read returns either exactly what the log would return, or `undefined`
 * when the cache cannot guarantee that.
 */
export interface HotCache {
  /**
   * Adds committed events. The cache stays complete as long as it receives every position of the log, in order.
   *
   * @param isKept whether to cache a stream; a stream that is not kept, or whose event has no payload, is evicted
   */
  add(events: readonly TailedEvent[], isKept?: IsKept): void
  /** Records events that were committed while no stream was watched, without caching them. */
  skip(events: readonly TailedEvent[]): void
  /** Evicts the events of a stream that is no longer watched. */
  evict(name: StreamName): void
  /** Evicts the events of a stream if its only reader has read them all. Later reads from the newest position on are answered. */
  release(name: StreamName): void
  /** The next events after a position; `undefined` when they must be read from the log. */
  read(stream: EventStream, range: EventRange): readonly RecentEvent[] | undefined
  /**
   * Evicts everything. Must be called when something was deleted from the log, and with the position of the newest event
   * of the log when another process may have written events: only the log has those.
   */
  clear(position?: number): void
  stats(): HotCacheStats
}

/** Estimated cost of the objects, the arrays and the envelope around a payload. */
const OVERHEAD_BYTES = 512

export function createHotCache(clock: Clock, limits: HotCacheLimits): HotCache {
  const rings = createStreamMap<EventRing>()
  /** Ordered by the last publication to the stream. */
  const recency = createLruList<EventRing>()
  let bytes = 0
  /** Position of the newest event that was added or skipped; `undefined` before the first. */
  let lastPosition: number | undefined
  /** A stream without a ring has no event between this position and `lastPosition`. */
  let emptyAfter = 0

  const trim = (ring: EventRing, nowMs: number) => {
    bytes -= trimRing(ring, limits, nowMs)
  }

  const evictRing = (ring: EventRing) => {
    rings.delete(ring.name)
    recency.remove(ring)
    bytes -= ring.bytes
    emptyAfter = Math.max(emptyAfter, ringEnd(ring))
  }

  /**
   * Evicts streams whose events have all expired, then the streams whose last publication is oldest, until the
   * remaining streams fit.
   */
  const sweep = (nowMs: number) => {
    for (let ring = recency.oldest(); ring !== undefined; ring = recency.oldest()) {
      if (bytes <= limits.maxBytes && !isRingExpired(ring, limits, nowMs)) return
      evictRing(ring)
    }
  }

  /** Evicts everything; the cache is complete again after the given position. */
  const restart = (position: number) => {
    rings.clear()
    recency.clear()
    bytes = 0
    emptyAfter = position
  }

  const open = (name: StreamName): EventRing => {
    const ring = createEventRing(name, emptyAfter)
    rings.set(name, ring)
    return ring
  }

  const put = (ring: EventRing, entry: RingEntry) => {
    recency.touch(ring)
    appendToRing(ring, entry)
    bytes += entry.bytes
    trim(ring, entry.addedMs)
  }

  const addEvent = (event: TailedEvent, addedMs: number, isKept: IsKept) => {
    for (const kind of STREAM_KINDS) {
      const id = event[kind]
      if (id === undefined) continue
      const ring = rings.find(kind, id)
      if (hasPayload(event) && isKept(kind, id)) put(ring ?? open({ kind, id }), toEntry(event, addedMs))
      else {
        if (ring !== undefined) evictRing(ring)
        emptyAfter = Math.max(emptyAfter, event.position)
      }
    }
  }

  /** Moves `lastPosition` forward. Returns whether the event is new. */
  const advance = (position: number): boolean => {
    if (lastPosition !== undefined && position <= lastPosition) return false
    // A gap: another process wrote in between, or a later commit was published first. Only the log has these events.
    if (position - 1 !== lastPosition) restart(position - 1)
    lastPosition = position
    return true
  }

  return {
    add(events, isKept = always) {
      const addedMs = clock.monotonicMs()
      for (const event of events) if (advance(event.position)) addEvent(event, addedMs, isKept)
      sweep(addedMs)
    },
    skip(events) {
      const position = events.at(-1)?.position
      if (position === undefined || position <= (lastPosition ?? 0)) return
      restart(position)
      lastPosition = position
    },
    evict(name) {
      const ring = rings.get(name)
      if (ring !== undefined) evictRing(ring)
    },
    release(name) {
      const ring = rings.get(name)
      if (ring !== undefined) bytes -= releaseRing(ring, clock.monotonicMs())
    },
    read(stream, range) {
      const ring = rings.get(nameOfStream(stream))
      if (ring === undefined) return lastPosition !== undefined && range.after >= emptyAfter ? [] : undefined
      trim(ring, clock.monotonicMs())
      return readRing(ring, range)
    },
    clear(position = 0) {
      restart(Math.max(position, lastPosition ?? 0))
      if (position > 0) lastPosition = emptyAfter
    },
    stats() {
      const nowMs = clock.monotonicMs()
      sweep(nowMs)
      let events = 0
      for (const ring of rings.values()) {
        trim(ring, nowMs)
        events += ringLength(ring)
      }
      return { events, subjects: rings.size(), bytes }
    },
  }
}

const always = () => true

const hasPayload = (event: TailedEvent): event is StoredEvent => event.payload !== undefined

const toEntry = (event: StoredEvent, addedMs: number): RingEntry => {
  const bytes = costOf(event)
  return { event, subject: undefined, delivered: undefined, bytes, addedMs }
}

/** The payload counts twice: as stored and as rendered. */
const costOf = ({ payload }: StoredEvent): number => OVERHEAD_BYTES + 2 * utf8Length(payload)

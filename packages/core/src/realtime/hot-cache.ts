import type { Clock, EventRange, EventStream, StoredEvent } from '@perdure/ports'
import type { DeliveredEvent } from './delivered-event.ts'
import { createRecencyList, type Linked } from './recency-list.ts'
import { type StreamKeys, streamKey, streamKeysOfEach } from './stream-key.ts'

export interface HotCacheLimits {
  readonly maxEvents: number // per stream
  readonly ttlMs: number // on the monotonic clock
  readonly maxSubjectBytes: number // per stream; what its events and their rendered forms may cost
  readonly maxBytes: number // of all streams
}

export interface HotCacheStats {
  readonly events: number
  readonly subjects: number
  readonly bytes: number
}

/**
 * Recent events in memory, in front of the log. It answers only what it knows whole: a read either gives exactly what the
 * log would, or nothing at all.
 */
export interface HotCache {
  /**
   * Takes what was made durable. Events are known whole as long as every position of the log comes by, in order.
   *
   * @param isKept whether the events of the stream of this key are worth their memory; what is held of others goes
   */
  add(events: readonly StoredEvent[], keys?: StreamKeys, isKept?: (key: string) => boolean): void
  /** Notes what was made durable while nobody watches any stream. */
  skip(events: readonly StoredEvent[]): void
  /** Drops what is held of a stream that nobody watches any more. */
  leave(key: string): void
  /** The next events after a position; `undefined` when only the log can tell. */
  read(stream: EventStream, range: EventRange): readonly RecentEvent[] | undefined
  /** Empties it; to be called when something was deleted from the log. */
  clear(): void
  stats(): HotCacheStats
}

/** An event of one stream in memory, with room for the form in which it was delivered last. */
export interface RecentEvent {
  readonly event: StoredEvent
  subject: string | undefined
  delivered: DeliveredEvent | undefined
}

interface Entry extends RecentEvent {
  readonly bytes: number
  readonly addedMs: number
}

interface Ring extends Linked<Ring> {
  readonly key: string
  entries: Entry[]
  /** Index of the oldest entry that is still kept. */
  first: number
  bytes: number
  /** Every event of the stream after this position is in the ring. */
  wholeAfter: number
}

const COMPACT_AT = 512
/** Objects, arrays and the envelope around a payload. */
const OVERHEAD_BYTES = 512

export function createHotCache(clock: Clock, limits: HotCacheLimits): HotCache {
  const rings = new Map<string, Ring>()
  /** By their last publication. */
  const recency = createRecencyList<Ring>()
  let bytes = 0
  let through = 0
  /** What no ring holds is known not to exist after this position only. */
  let floor = Number.POSITIVE_INFINITY

  const removeOldest = (ring: Ring) => {
    const entry = ring.entries[ring.first] as Entry
    ring.entries[ring.first] = undefined as unknown as Entry
    ring.first++
    ring.bytes -= entry.bytes
    bytes -= entry.bytes
    ring.wholeAfter = entry.event.position
    if (ring.first < COMPACT_AT) return
    ring.entries = ring.entries.slice(ring.first)
    ring.first = 0
  }

  const isOver = (ring: Ring, nowMs: number) => {
    const oldest = ring.entries[ring.first]
    if (oldest === undefined) return false
    const count = ring.entries.length - ring.first
    return count > limits.maxEvents || ring.bytes > limits.maxSubjectBytes || isExpired(oldest, nowMs)
  }

  const isExpired = ({ addedMs }: Entry, nowMs: number) => nowMs - addedMs >= limits.ttlMs

  const trim = (ring: Ring, nowMs: number) => {
    while (isOver(ring, nowMs)) removeOldest(ring)
  }

  const drop = (ring: Ring) => {
    rings.delete(ring.key)
    recency.remove(ring)
    bytes -= ring.bytes
    floor = Math.max(floor, ring.entries.at(-1)?.event.position ?? ring.wholeAfter, ring.wholeAfter)
  }

  /** Drops what is expired or too much, longest untouched streams first. */
  const sweep = (nowMs: number) => {
    for (let ring = recency.oldest(); ring !== undefined; ring = recency.oldest()) {
      const newest = ring.entries.at(-1)
      const isDead = ring.first === ring.entries.length || newest === undefined || isExpired(newest, nowMs)
      if (!isDead && bytes <= limits.maxBytes) return
      drop(ring)
    }
  }

  const forget = (from: number) => {
    rings.clear()
    recency.clear()
    bytes = 0
    floor = from
  }

  const open = (key: string): Ring => {
    const ring = { key, entries: [], first: 0, bytes: 0, wholeAfter: floor, older: undefined, newer: undefined }
    rings.set(key, ring)
    return ring
  }

  const put = (key: string, entry: Entry) => {
    const ring = rings.get(key) ?? open(key)
    recency.touch(ring)
    ring.entries.push(entry)
    ring.bytes += entry.bytes
    bytes += entry.bytes
    trim(ring, entry.addedMs)
  }

  const leave = (key: string) => {
    const ring = rings.get(key)
    if (ring !== undefined) drop(ring)
  }

  /** What was not kept is the log's to tell. */
  const leaveOut = (key: string, position: number) => {
    leave(key)
    floor = Math.max(floor, position)
  }

  /** Whether the event is news. */
  const advance = (position: number): boolean => {
    if (position <= through) return false
    // Another process wrote in between, or a later commit was told of first: what lies before is the log's to tell.
    if (position !== through + 1 || floor === Number.POSITIVE_INFINITY) forget(position - 1)
    through = position
    return true
  }

  return {
    add(events, keys = streamKeysOfEach(events), isKept = always) {
      const addedMs = clock.monotonicMs()
      for (const [index, event] of events.entries()) {
        if (!advance(event.position)) continue
        for (const key of keys[index] as readonly string[]) {
          if (isKept(key)) put(key, toEntry(event, addedMs))
          else leaveOut(key, event.position)
        }
      }
      sweep(addedMs)
    },
    skip(events) {
      const position = events.at(-1)?.position ?? 0
      if (position <= through) return
      forget(position)
      through = position
    },
    leave,
    read(stream, { after, limit }) {
      const ring = rings.get(streamKey(stream))
      if (ring === undefined) return after >= floor ? [] : undefined
      trim(ring, clock.monotonicMs())
      if (after < ring.wholeAfter) return undefined
      const start = firstAfter(ring, after)
      return ring.entries.slice(start, start + limit)
    },
    clear: () => forget(floor === Number.POSITIVE_INFINITY ? floor : through),
    stats() {
      const nowMs = clock.monotonicMs()
      sweep(nowMs)
      let events = 0
      for (const ring of rings.values()) {
        trim(ring, nowMs)
        events += ring.entries.length - ring.first
      }
      return { events, subjects: rings.size, bytes }
    },
  }
}

const always = () => true

const toEntry = (event: StoredEvent, addedMs: number): Entry => {
  const bytes = costOf(event)
  return { event, subject: undefined, delivered: undefined, bytes, addedMs }
}

/** Index of the oldest kept entry after a position. */
function firstAfter({ entries, first }: Ring, after: number): number {
  let low = first
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((entries[middle] as Entry).event.position <= after) low = middle + 1
    else high = middle
  }
  return low
}

/** The payload as it is stored and once more as it is rendered. */
const costOf = ({ payload }: StoredEvent): number => OVERHEAD_BYTES + 2 * utf8Length(payload)

function utf8Length(text: string): number {
  let length = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit > 0x7ff) length += unit >= 0xd800 && unit <= 0xdfff ? 1 : 2
    else if (unit > 0x7f) length++
  }
  return length
}

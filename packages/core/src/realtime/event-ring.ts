import type { EventRange, StoredEvent } from '@perdure/ports'
import type { DeliveredEvent } from './delivered-event.ts'
import type { LruNode } from './lru-list.ts'
import type { StreamName } from './stream-map.ts'

/** An event of one stream in memory, together with its most recently rendered form. */
export interface RecentEvent {
  readonly event: StoredEvent
  subject: string | undefined
  delivered: DeliveredEvent | undefined
}

export interface RingEntry extends RecentEvent {
  readonly bytes: number
  readonly addedMs: number // monotonic
}

/**
 * The newest events of one stream, oldest first, in a ring buffer of variable length.
 *
 * Invariant: the ring holds every published event of its stream after `completeAfter`. Entries are appended in the
 * order of their positions and evicted oldest first, so `completeAfter` only increases.
 */
export interface EventRing extends LruNode<EventRing> {
  readonly name: StreamName
  entries: RingEntry[]
  /** Index of the oldest entry that is still held; the slots before this index are empty. */
  first: number
  bytes: number
  completeAfter: number
  /** Whether a read has returned the newest entry. */
  isRead: boolean
  /** When the ring was last released, on the monotonic clock. */
  releasedMs: number
}

export interface RingLimits {
  readonly maxEvents: number // per stream
  readonly ttlMs: number // on the monotonic clock
  readonly maxSubjectBytes: number // per stream, for its events and their rendered forms
}

/** Empty slots at the front that are tolerated before the array is compacted. */
const COMPACT_AT = 512

/** An empty ring of a stream that has no event after `completeAfter` yet. */
export function createEventRing(name: StreamName, completeAfter: number): EventRing {
  const empty = { entries: [], first: 0, bytes: 0, isRead: false, releasedMs: Number.NEGATIVE_INFINITY }
  return { name, ...empty, completeAfter, older: undefined, newer: undefined }
}

/**
 * Rendered forms are kept for the newest entries only, because nearly all subscribers read those: a rendered form takes
 * several times the memory of its event.
 */
const RENDERED_ENTRIES = 32

export function appendToRing(ring: EventRing, entry: RingEntry): void {
  ring.entries.push(entry)
  ring.isRead = false
  const outdated = ring.entries[ring.entries.length - 1 - RENDERED_ENTRIES]
  if (outdated !== undefined) outdated.delivered = undefined
  ring.bytes += entry.bytes
}

/** Evicts entries until the ring is within its limits. Returns the number of bytes freed. */
export function trimRing(ring: EventRing, limits: RingLimits, nowMs: number): number {
  const before = ring.bytes
  while (isOverLimit(ring, limits, nowMs)) evictOldest(ring)
  return before - ring.bytes
}

/** Evicts every entry, once a read has returned the newest one. Returns the number of bytes freed. */
export function releaseRing(ring: EventRing, nowMs: number): number {
  if (!ring.isRead || ring.entries.length === 0) return 0
  const freed = ring.bytes
  ring.completeAfter = ringEnd(ring)
  ring.entries = []
  ring.first = 0
  ring.bytes = 0
  ring.releasedMs = nowMs
  return freed
}

/** The next entries after a position; `undefined` when the ring may no longer hold all of them. */
export function readRing(ring: EventRing, { after, limit }: EventRange): readonly RecentEvent[] | undefined {
  if (after < ring.completeAfter) return undefined
  const start = firstAfter(ring, after)
  if (start + limit >= ring.entries.length) ring.isRead = true
  return ring.entries.slice(start, start + limit)
}

export const ringLength = ({ entries, first }: EventRing): number => entries.length - first

/** The position after which the stream has no event. */
export const ringEnd = ({ entries, completeAfter }: EventRing): number =>
  entries.at(-1)?.event.position ?? completeAfter

/** Whether every entry has exceeded the time to live. A ring that was released expires as if it still held its entries. */
export function isRingExpired({ entries, releasedMs }: EventRing, { ttlMs }: RingLimits, nowMs: number): boolean {
  return nowMs - (entries.at(-1)?.addedMs ?? releasedMs) >= ttlMs
}

function isOverLimit(ring: EventRing, { maxEvents, maxSubjectBytes, ttlMs }: RingLimits, nowMs: number): boolean {
  const oldest = ring.entries[ring.first]
  if (oldest === undefined) return false
  return ringLength(ring) > maxEvents || ring.bytes > maxSubjectBytes || nowMs - oldest.addedMs >= ttlMs
}

function evictOldest(ring: EventRing): void {
  const entry = ring.entries[ring.first] as RingEntry
  ring.entries[ring.first] = undefined as unknown as RingEntry
  ring.first++
  ring.bytes -= entry.bytes
  ring.completeAfter = entry.event.position
  if (ring.first < COMPACT_AT) return
  ring.entries = ring.entries.slice(ring.first)
  ring.first = 0
}

/** Index of the oldest held entry after a position, by binary search. */
function firstAfter({ entries, first }: EventRing, after: number): number {
  let low = first
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((entries[middle] as RingEntry).event.position <= after) low = middle + 1
    else high = middle
  }
  return low
}

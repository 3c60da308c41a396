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
  return { name, entries: [], first: 0, bytes: 0, completeAfter, older: undefined, newer: undefined }
}

/**
 * Rendered forms are kept for the newest entries only, because nearly all subscribers read those: a rendered form takes
 * several times the memory of its event.
 */
const RENDERED_ENTRIES = 32

export function appendToRing(ring: EventRing, entry: RingEntry): void {
  ring.entries.push(entry)
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

/** The next entries after a position; `undefined` when the ring may no longer hold all of them. */
export function readRing(ring: EventRing, { after, limit }: EventRange): readonly RecentEvent[] | undefined {
  if (after < ring.completeAfter) return undefined
  const start = firstAfter(ring, after)
  return ring.entries.slice(start, start + limit)
}

export const ringLength = ({ entries, first }: EventRing): number => entries.length - first

/** The position after which the stream has no event. */
export const ringEnd = ({ entries, completeAfter }: EventRing): number =>
  entries.at(-1)?.event.position ?? completeAfter

/** Whether every entry has exceeded the time to live. */
export function isRingExpired({ entries }: EventRing, { ttlMs }: RingLimits, nowMs: number): boolean {
  const newest = entries.at(-1)
  return newest === undefined || nowMs - newest.addedMs >= ttlMs
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

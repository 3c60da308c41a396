import type { Conflict, NewEvent, Write } from '@perdure/ports'
import { GROUP_SIZE, sizeOf } from './event-collector.ts'
import { mergePieces } from './merge-pieces.ts'

/** Writes and events of a running attempt that are committed together. */
export interface Entry {
  readonly writes?: readonly Write[]
  readonly events?: readonly NewEvent[]
}

/** Entries that share a promise, because they become durable together. */
export interface Pending {
  readonly writes: readonly Write[]
  readonly events: NewEvent[]
  /** The size of its events, as `sizeOf` counts them. */
  size: number
  /** How much of a commit the entry takes up, beside other entries of its run. */
  weight: number
  readonly isAlone: boolean
  readonly durable: Promise<Conflict | undefined>
  resolve(conflict?: Conflict): void
  reject(error: unknown): void
}

/**
 * Maximum weight of the entries per commit, so that code that records without awaiting does not block the storage: 512
 * events, or 128 entries with writes.
 */
const WEIGHT_PER_COMMIT = 512
const WEIGHT_OF_WRITES = 4
/** A payload of this length weighs as much as the row of an event. */
const WEIGHT_CHARACTERS = 1_024
/** The texts of entries with writes: about 4 Mi characters per commit. */
const WRITTEN_CHARACTERS = 8_192
/** Events up to this size join one entry, so that a group of the collector has room for parts of a long backlog. */
const JOINED_SIZE = GROUP_SIZE / 8

/** The caller does not have to await the entry, so its rejection must not become unhandled. */
export function toPending({ writes = [], events = [] }: Entry, isAlone: boolean): Pending {
  const { promise, resolve, reject } = Promise.withResolvers<Conflict | undefined>()
  promise.catch(() => undefined)
  const weight =
    writes.length === 0 ? 0 : WEIGHT_OF_WRITES + Math.floor(charactersIn([writes, events]) / WRITTEN_CHARACTERS)
  const one: Pending = { writes, events: [], size: 0, weight, isAlone, durable: promise, resolve, reject }
  for (const event of events) addEvent(one, event)
  return one
}

function addEvent(entry: Pending, event: NewEvent): void {
  entry.events.push(event)
  entry.size += sizeOf(event)
  if (entry.writes.length === 0) entry.weight += weightOf(event)
}

const weightOf = ({ payload }: NewEvent): number => 1 + Math.floor(payload.length / WEIGHT_CHARACTERS)

/** The length of the texts in the members of a value. Texts that are nested deeper than those of a call do not count. */
function charactersIn(value: unknown, depth = 5): number {
  if (typeof value === 'string') return value.length
  if (depth === 0 || typeof value !== 'object' || value === null) return 0
  let length = 0
  for (const member of Object.values(value)) length += charactersIn(member, depth - 1)
  return length
}

/** Whether an entry has only events, so that a commit of the collector can take it. */
export const isEmitted = ({ writes, isAlone }: Pending): boolean => writes.length === 0 && !isAlone

/** Adds consecutive events to the entry, if it has only events and stays small. Returns whether it did. */
export function join(newest: Pending, { writes = [], events = [] }: Entry): boolean {
  if (writes.length > 0 || !isEmitted(newest)) return false
  let { size, weight } = newest
  for (const event of events) {
    size += sizeOf(event)
    weight += weightOf(event)
  }
  if (size > JOINED_SIZE || weight > WEIGHT_PER_COMMIT) return false
  for (const event of events) addEvent(newest, event)
  return true
}

/** Merges the event with the newest one of the entry, if both are pieces of one text. Returns whether it did. */
export function merge(newest: Pending, event: NewEvent, maxBytes: number): boolean {
  const last = newest.events.at(-1)
  const merged = last === undefined || !isEmitted(newest) ? undefined : mergePieces(last, event, maxBytes)
  if (last === undefined || merged === undefined) return false
  newest.events[newest.events.length - 1] = merged
  newest.size += sizeOf(merged) - sizeOf(last)
  newest.weight += weightOf(merged) - weightOf(last)
  return true
}

/** How many of the oldest entries go into the next commit of the run. */
export function batchLength(pending: readonly Pending[]): number {
  if (pending[0]?.isAlone) return 1
  let total = 0
  const end = pending.findIndex(({ isAlone, weight }) => {
    total += weight
    return isAlone || total > WEIGHT_PER_COMMIT
  })
  return end === -1 ? pending.length : Math.max(1, end)
}

/** How many of the oldest entries fit into the room. A group that is empty takes one in any case. */
export function lengthWithin(pending: readonly Pending[], room: number): number {
  let total = 0
  const end = pending.findIndex(({ size }) => {
    total += size
    return total > room
  })
  if (end === -1) return pending.length
  return room === GROUP_SIZE ? Math.max(1, end) : end
}

export const toWrites = ({ writes, events }: Required<Entry>): readonly Write[] =>
  events.length === 0 ? writes : [...writes, { type: 'event.append', events }]

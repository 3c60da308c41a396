import {
  type EpochMs,
  type EventLog,
  type EventStream,
  MAX_SCANNED,
  type NewEvent,
  type StoredEvent,
} from '@perdure/ports'
import type { SessionBelongings, TrimmedEvents } from './session-deletion.ts'
import type { RunBelongings } from './thread-deletion.ts'
import { putEntry, type UndoLog } from './undo-log.ts'
import type { Table } from './write-applier.ts'

export interface EventTable extends Table<EventLog, 'event.append'>, RunBelongings, SessionBelongings, TrimmedEvents {
  /** Removes the oldest events before an instant, except events of runs to keep; returns the number removed. */
  trim(request: TrimRequest, undo: UndoLog): number
  remove(positions: readonly number[], undo: UndoLog): number
}

export interface TrimRequest {
  readonly before: EpochMs
  readonly limit: number
  readonly isKept: (runId: string) => boolean
}

export function createEventTable(epoch: string): EventTable {
  const streams = new Map<string, StoredEvent[]>()
  const every = new Map<number, StoredEvent>()
  let head = 0
  let trimmedThrough = 0

  const append = (event: NewEvent, undo: UndoLog): StoredEvent => {
    head += 1
    const stored = Object.freeze({ ...event, position: head })
    const carriers = streamNames(event).map((name) => openStream(streams, name))
    for (const carrier of carriers) carrier.push(stored)
    putEntry(every, [head, stored], undo)
    undo.push(() => {
      head -= 1
      for (const carrier of carriers) carrier.pop()
    })
    return stored
  }

  const trimStream = (stream: EventStream, undo: UndoLog): void => {
    noteTrimmed(streams.get(streamName(stream))?.at(-1)?.position ?? 0, undo)
    removeStream(stream, undo)
  }

  /** Removes the events of this stream from all streams that carry them. */
  const removeStream = (stream: EventStream, undo: UndoLog): void => {
    removeEvents(new Set(streams.get(streamName(stream))), undo)
  }

  const removeEvents = (removed: ReadonlySet<StoredEvent>, undo: UndoLog): void => {
    for (const { position } of removed) putEntry(every, [position, undefined], undo)
    const names = new Set(Array.from(removed).flatMap(streamNames))
    for (const name of names) {
      const kept = openStream(streams, name).filter((event) => !removed.has(event))
      putEntry(streams, [name, kept], undo)
    }
  }

  const noteTrimmed = (position: number, undo: UndoLog): void => {
    const before = trimmedThrough
    undo.push(() => {
      trimmedThrough = before
    })
    trimmedThrough = Math.max(before, position)
  }

  const oldest = ({ before, limit, isKept }: TrimRequest): readonly StoredEvent[] => {
    const found: StoredEvent[] = []
    for (const event of [...every.values()].toSorted((a, b) => a.position - b.position)) {
      if (event.at >= before || found.length === limit) break
      if (event.runId === undefined || !isKept(event.runId)) found.push(event)
    }
    return found
  }

  return {
    store: {
      async read(stream, { after, limit, maxLength }) {
        const events = streams.get(streamName(stream)) ?? []
        const start = countThrough(events, after)
        return withinLength(events.slice(start, start + limit), maxLength)
      },
      async readBefore(stream, { before, limit, maxLength }) {
        const events = streams.get(streamName(stream)) ?? []
        const end = countThrough(events, before - 1)
        return withinLength(events.slice(Math.max(0, end - limit), end).reverse(), maxLength)
      },
      async count(stream, { after, through }) {
        const events = streams.get(streamName(stream)) ?? []
        return Math.max(0, countThrough(events, through) - countThrough(events, after))
      },
      head: async () => ({ epoch, position: head, trimmedThrough }),
      async scan(types, { after, limit, maxLength }) {
        const end = Math.min(head, after + MAX_SCANNED)
        const matching = [...every.values()]
          .filter(({ position, type }) => position > after && position <= end && types.includes(type))
          .sort((one, other) => one.position - other.position)
        const events = withinLength(matching.slice(0, limit), maxLength)
        const isWhole = events.length === matching.length
        return { events, through: isWhole ? Math.max(after, end) : (events.at(-1)?.position ?? after) }
      },
    },
    appliers: {
      'event.append'({ events }, { undo, events: appended }) {
        for (const event of events) appended.push(append(event, undo))
        return events.length
      },
    },
    trim(request, undo) {
      const old = oldest(request)
      removeEvents(new Set(old), undo)
      noteTrimmed(old.at(-1)?.position ?? 0, undo)
      return old.length
    },
    remove(positions, undo) {
      const found = positions.flatMap((position) => every.get(position) ?? [])
      removeEvents(new Set(found), undo)
      return found.length
    },
    trimRun: (runId, undo) => trimStream({ runId }, undo),
    trimSession: (sessionId, undo) => trimStream({ sessionId }, undo),
    removeRun: (runId, undo) => removeStream({ runId }, undo),
    removeSession: (sessionId, undo) => removeStream({ sessionId }, undo),
  }
}

function streamName(stream: EventStream): string {
  if ('runId' in stream) return `run ${stream.runId}`
  return 'sessionId' in stream ? `session ${stream.sessionId}` : `topic ${stream.topic}`
}

function streamNames({ runId, sessionId, topic }: NewEvent): readonly string[] {
  const names: string[] = []
  if (runId !== undefined) names.push(streamName({ runId }))
  if (sessionId !== undefined) names.push(streamName({ sessionId }))
  if (topic !== undefined) names.push(streamName({ topic }))
  return names
}

function openStream(streams: Map<string, StoredEvent[]>, name: string): StoredEvent[] {
  const existing = streams.get(name)
  if (existing !== undefined) return existing
  const opened: StoredEvent[] = []
  streams.set(name, opened)
  return opened
}

/** The events up to and including the one that reaches the total payload length. */
function withinLength(events: readonly StoredEvent[], maxLength = Number.POSITIVE_INFINITY): readonly StoredEvent[] {
  const within: StoredEvent[] = []
  let length = 0
  for (const event of events) {
    if (length >= maxLength) break
    within.push(event)
    length += event.payload.length
  }
  return within
}

/** Number of events at or before the position; the events are ordered by position. */
function countThrough(events: readonly StoredEvent[], position: number): number {
  let low = 0
  let high = events.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((events[middle] as StoredEvent).position <= position) low = middle + 1
    else high = middle
  }
  return low
}

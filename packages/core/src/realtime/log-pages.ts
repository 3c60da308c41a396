import type { EventRange } from '@perdure/ports'
import type { DeliveredEvent, EventSource } from './delivered-event.ts'
import { nameOfStream } from './stream-map.ts'

const READ_LIMITS = { limit: 200, maxLength: 256 * 1_024 }
const MAX_BYTES = 16 * 1_024 * 1_024

/** Estimated cost of the objects and arrays around an envelope. An envelope counts one byte per character. */
const OVERHEAD_BYTES = 256

interface LogPage {
  readonly source: string
  readonly after: number
  readonly lastPosition: number
  readonly events: readonly DeliveredEvent[]
  readonly bytes: number
}

export interface LogPagesDeps {
  readonly readLog: (source: EventSource, range: EventRange) => Promise<readonly DeliveredEvent[]>
  /** Changes whenever something is deleted from the log. */
  readonly generation: () => number
}

/**
 * Caches rendered pages of the log, so that many subscribers catching up at about the same position share one read. A
 * subscriber that starts inside a page gets the rest of that page, so that all subscribers soon request the same next
 * page.
 */
export interface LogPages {
  /** The next events after a position, at most `limit`; empty only if the log has no more. */
  read(source: EventSource, range: EventRange): readonly DeliveredEvent[] | Promise<readonly DeliveredEvent[]>
  /** Evicts the pages of a source without subscribers. */
  evict(source: EventSource): void
}

const nameOf = ({ stream, subject }: EventSource): string => {
  const { kind, id } = nameOfStream(stream)
  return `${subject} ${kind} ${id}`
}

export function createLogPages({ readLog, generation }: LogPagesDeps): LogPages {
  /** Oldest first. */
  const pages = new Set<LogPage>()
  /** The pages of each source, by their first position. A server that follows many short runs has thousands of sources. */
  const bySource = new Map<string, LogPage[]>()
  const pendingReads = new Map<string, Promise<readonly DeliveredEvent[]>>()
  let bytes = 0
  let seenGeneration = generation()

  const evict = (page: LogPage) => {
    pages.delete(page)
    bytes -= page.bytes
    const ofSource = bySource.get(page.source)
    if (ofSource === undefined || ofSource.length === 1) bySource.delete(page.source)
    else ofSource.splice(ofSource.indexOf(page), 1)
  }

  const evictStale = () => {
    if (seenGeneration === generation()) return
    seenGeneration = generation()
    for (const page of pages) evict(page)
    pendingReads.clear()
  }

  const find = (name: string, after: number): LogPage | undefined => {
    const ofSource = bySource.get(name) ?? []
    const page = ofSource[countUpTo(ofSource, after) - 1]
    return page !== undefined && after < page.lastPosition ? page : undefined
  }

  const store = (source: string, after: number, events: readonly DeliveredEvent[]) => {
    const lastPosition = events.at(-1)?.position
    if (lastPosition === undefined) return
    const size = events.reduce((sum, { envelope }) => sum + envelope.length + OVERHEAD_BYTES, 0)
    const page = { source, after, lastPosition, events, bytes: size }
    const ofSource = bySource.get(source) ?? []
    ofSource.splice(countUpTo(ofSource, after), 0, page)
    bySource.set(source, ofSource)
    pages.add(page)
    bytes += size
    for (const oldest of pages) {
      if (bytes <= MAX_BYTES) return
      evict(oldest)
    }
  }

  const readFromLog = (source: EventSource, after: number) => readLog(source, { after, ...READ_LIMITS })

  const readOnce = (source: EventSource, name: string, after: number) => {
    const key = `${name} ${after}`
    const pending = pendingReads.get(key)
    // The pending read may have started before the events that woke this caller were written.
    if (pending !== undefined)
      return pending.then((events) => (events.length > 0 ? events : readFromLog(source, after)))
    const startGeneration = generation()
    const read = readFromLog(source, after)
      .then((events) => {
        if (startGeneration === generation()) store(name, after, events)
        return events
      })
      .finally(() => {
        if (pendingReads.get(key) === read) pendingReads.delete(key)
      })
    pendingReads.set(key, read)
    return read
  }

  return {
    read(source, { after, limit }) {
      evictStale()
      const name = nameOf(source)
      const page = find(name, after)
      if (page === undefined) return readOnce(source, name, after).then((events) => events.slice(0, limit))
      const start = page.events.findIndex(({ position }) => position > after)
      return page.events.slice(start, start + limit)
    },
    evict(source) {
      for (const page of [...(bySource.get(nameOf(source)) ?? [])]) evict(page)
    },
  }
}

/** How many of the pages begin at the position or before it, by binary search. */
function countUpTo(pages: readonly LogPage[], position: number): number {
  let low = 0
  let high = pages.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((pages[middle] as LogPage).after <= position) low = middle + 1
    else high = middle
  }
  return low
}

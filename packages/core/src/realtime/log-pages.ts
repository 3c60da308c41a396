import type { EventRange } from '@perdure/ports'
import type { DeliveredEvent, EventSource } from './delivered-event.ts'
import { streamKey } from './stream-key.ts'

/** What may be read and kept at once. */
const READ = { limit: 200, maxLength: 256 * 1_024 }
const MAX_BYTES = 16 * 1_024 * 1_024

/** Objects and arrays around an envelope; what is beyond Latin takes up to two bytes a character, which is near enough. */
const OVERHEAD_BYTES = 256

interface LogPage {
  readonly source: string
  readonly after: number
  readonly through: number
  readonly events: readonly DeliveredEvent[]
  readonly bytes: number
}

export interface LogPagesDeps {
  readonly readLog: (source: EventSource, range: EventRange) => Promise<readonly DeliveredEvent[]>
  /** Changes when something was deleted from the log. */
  readonly generation: () => number
}

/**
 * Pages of the log that were read last, rendered: of many followers that are behind at about the same place, one reads.
 * Whoever starts inside a page goes on at its end, so that they soon all want the same next one.
 */
export interface LogPages {
  /** The next events after a position, up to the limit and never none unless the log has none. */
  read(source: EventSource, range: EventRange): readonly DeliveredEvent[] | Promise<readonly DeliveredEvent[]>
}

export function createLogPages({ readLog, generation }: LogPagesDeps): LogPages {
  const pages = new Set<LogPage>()
  const reading = new Map<string, Promise<readonly DeliveredEvent[]>>()
  let bytes = 0
  let known = generation()

  const drop = (page: LogPage) => {
    pages.delete(page)
    bytes -= page.bytes
  }

  const forgetDeleted = () => {
    if (known === generation()) return
    known = generation()
    for (const page of pages) drop(page)
    reading.clear()
  }

  const find = (name: string, after: number): LogPage | undefined => {
    for (const page of pages) if (page.source === name && page.after <= after && after < page.through) return page
    return undefined
  }

  const keep = (source: string, after: number, events: readonly DeliveredEvent[]) => {
    const through = events.at(-1)?.position
    if (through === undefined) return
    const size = events.reduce((sum, { envelope }) => sum + envelope.length + OVERHEAD_BYTES, 0)
    pages.add({ source, after, through, events, bytes: size })
    bytes += size
    for (const oldest of pages) {
      if (bytes <= MAX_BYTES) return
      drop(oldest)
    }
  }

  const readFresh = (source: EventSource, after: number) => readLog(source, { after, ...READ })

  const readOnce = (source: EventSource, name: string, after: number) => {
    const key = `${name} ${after}`
    const underWay = reading.get(key)
    // It may have begun before what the asker was woken for was written.
    if (underWay !== undefined)
      return underWay.then((events) => (events.length > 0 ? events : readFresh(source, after)))
    const startedIn = generation()
    const read = readFresh(source, after)
      .then((events) => {
        if (startedIn === generation()) keep(name, after, events)
        return events
      })
      .finally(() => {
        if (reading.get(key) === read) reading.delete(key)
      })
    reading.set(key, read)
    return read
  }

  return {
    read(source, { after, limit }) {
      forgetDeleted()
      const name = `${source.subject} ${streamKey(source.stream)}`
      const page = find(name, after)
      if (page === undefined) return readOnce(source, name, after).then((events) => events.slice(0, limit))
      const start = page.events.findIndex(({ position }) => position > after)
      return page.events.slice(start, start + limit)
    },
  }
}

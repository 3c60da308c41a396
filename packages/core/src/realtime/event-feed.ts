import type { EventLog, EventRange, StoredEvent } from '@perdure/ports'
import type { DeliveredEvent, EventSource } from './delivered-event.ts'
import type { RenderEnvelope } from './envelope.ts'
import type { EventHub, Watcher } from './event-hub.ts'
import type { RecentEvent } from './event-ring.ts'
import { createLogPages } from './log-pages.ts'

export type FeedRange = Pick<EventRange, 'after' | 'limit'>

export interface FeedPage {
  readonly events: readonly DeliveredEvent[]
  /** Whether the next read may return more events immediately. */
  readonly hasMore: boolean
}

export interface EventFeedDeps {
  readonly events: Pick<EventLog, 'read'>
  readonly hub: EventHub
  readonly render: RenderEnvelope
}

/** Delivers live events to every transport. */
export interface EventFeed {
  /** The next events after a position, oldest first: synchronously when they are in memory, otherwise from the log. */
  read(source: EventSource, range: FeedRange): FeedPage | Promise<FeedPage>
  /** The next events from the log, including events that are committed but not published yet. */
  readLog(source: EventSource, range: FeedRange): FeedPage | Promise<FeedPage>
  /** Wakes the watcher after each publication to the source. */
  watch(source: EventSource, watcher: Watcher): void
  /** Stops waking the watcher; a no-op if the watcher does not watch the source. */
  unwatch(source: EventSource, watcher: Watcher): void
}

interface SharedPage extends FeedRange {
  readonly page: FeedPage
}

/** Bounds the memory when many subscribers read at different positions. */
const MAX_SHARED_PAGES = 16
/** In characters. A page ends with the event that reaches this length. */
const MAX_PAGE_LENGTH = 256 * 1_024

/**
 * An event is rendered when the first subscriber reads it, and again for another subject of its stream or after the
 * cache has evicted it. Subscribers that read from the same position before the next publication get the same page, so
 * that transports can encode the page once.
 */
export function createEventFeed({ events, hub, render }: EventFeedDeps): EventFeed {
  const deliver = (event: StoredEvent, { subject, epoch }: EventSource): DeliveredEvent => ({
    position: event.position,
    type: event.type,
    envelope: render(event, { subject, epoch }),
  })

  const deliverShared = (recent: RecentEvent, source: EventSource): DeliveredEvent => {
    if (recent.delivered !== undefined && recent.subject === source.subject) return recent.delivered
    recent.subject = source.subject
    recent.delivered = deliver(recent.event, source)
    return recent.delivered
  }

  const pages = createLogPages({
    readLog: async (source, range) => (await events.read(source.stream, range)).map((event) => deliver(event, source)),
    generation: hub.generation,
  })

  const readNext = (source: EventSource, range: FeedRange): FeedPage | Promise<FeedPage> => {
    const recent = hub.recent(source.stream, range)
    if (recent !== undefined) return fillPage(recent, range.limit, (one) => deliverShared(one, source))
    return readLog(source, range)
  }

  const readLog = (source: EventSource, range: FeedRange): FeedPage | Promise<FeedPage> => {
    const page = pages.read(source, range)
    return page instanceof Promise ? page.then(toPage) : toPage(page)
  }

  /** By subject; the positions at which pages start differ while some subscribers are behind. */
  const sharedPages = new Map<string, SharedPage[]>()
  let sharedCount = 0
  let sharedVersion = hub.version()

  return {
    read(source, range) {
      if (sharedVersion !== hub.version() || sharedCount >= MAX_SHARED_PAGES) {
        sharedPages.clear()
        sharedCount = 0
      }
      sharedVersion = hub.version()
      const ofSubject = sharedPages.get(source.subject)
      const shared = ofSubject?.find(({ after, limit }) => after === range.after && limit === range.limit)
      if (shared !== undefined) return shared.page
      const page = readNext(source, range)
      if (!(page instanceof Promise)) {
        const { after, limit } = range
        if (ofSubject === undefined) sharedPages.set(source.subject, [{ after, limit, page }])
        else ofSubject.push({ after, limit, page })
        sharedCount++
      }
      return page
    },
    readLog,
    watch: ({ stream }, watcher) => hub.watch(stream, watcher),
    unwatch(source, watcher) {
      if (!hub.unwatch(source.stream, watcher)) pages.evict(source)
    },
  }
}

/**
 * A page that was read from the log may end before the end of the log, so more events may follow any page that is not
 * empty.
 */
const toPage = (events: readonly DeliveredEvent[]): FeedPage => ({ events, hasMore: events.length > 0 })

function fillPage(
  recent: readonly RecentEvent[],
  limit: number,
  deliver: (event: RecentEvent) => DeliveredEvent,
): FeedPage {
  const events: DeliveredEvent[] = []
  let length = 0
  for (const event of recent) {
    const delivered = deliver(event)
    events.push(delivered)
    length += delivered.envelope.length
    if (length >= MAX_PAGE_LENGTH) break
  }
  return { events, hasMore: recent.length === limit || events.length < recent.length }
}

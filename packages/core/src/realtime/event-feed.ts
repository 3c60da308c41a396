import type { EventLog, EventRange, StoredEvent } from '@perdure/ports'
import type { DeliveredEvent, EventSource } from './delivered-event.ts'
import type { RenderEnvelope } from './envelope.ts'
import type { EventHub, Watcher } from './event-hub.ts'
import type { RecentEvent } from './hot-cache.ts'
import { createLogPages } from './log-pages.ts'

export type FeedRange = Pick<EventRange, 'after' | 'limit'>

export interface FeedPage {
  readonly events: readonly DeliveredEvent[]
  /** Whether the next read may find more at once. */
  readonly hasMore: boolean
}

export interface EventFeedDeps {
  readonly events: Pick<EventLog, 'read'>
  readonly hub: EventHub
  readonly render: RenderEnvelope
}

/** The one way of live events to every transport. */
export interface EventFeed {
  /** The next events after a position, oldest first: at once when they are in memory, from the log otherwise. */
  read(source: EventSource, range: FeedRange): FeedPage | Promise<FeedPage>
  /** The next events as the log has them: also those of a commit that is not published yet. */
  readLog(source: EventSource, range: FeedRange): FeedPage | Promise<FeedPage>
  /** Wakes the watcher after each publication to the source. */
  watch(source: EventSource, watcher: Watcher): void
  /** Ends it; a no-op for who does not watch the source. */
  unwatch(source: EventSource, watcher: Watcher): void
}

/** So that followers who are at as many places hold little. */
const MAX_SHARED_PAGES = 16
/** A page ends with the event that makes it so long. */
const PAGE_LENGTH = 256 * 1_024

/**
 * An event is rendered when the first subscriber reads it, and again for another subject of its stream or when it was long
 * out of memory. Who reads from the same place, before anything more is published, gets the same page, so that transports
 * can make its bytes once.
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
    generation: hub.forgotten,
  })

  const readFresh = (source: EventSource, range: FeedRange): FeedPage | Promise<FeedPage> => {
    const recent = hub.recent(source.stream, range)
    if (recent !== undefined) return cutOff(recent, range.limit, (one) => deliverShared(one, source))
    return readLog(source, range)
  }

  const readLog = (source: EventSource, range: FeedRange): FeedPage | Promise<FeedPage> => {
    const page = pages.read(source, range)
    return page instanceof Promise ? page.then(toPage) : toPage(page)
  }

  const shared = new Map<string, FeedPage>()
  let sharedAt = hub.changes()

  return {
    read(source, range) {
      if (sharedAt !== hub.changes() || shared.size >= MAX_SHARED_PAGES) shared.clear()
      sharedAt = hub.changes()
      const place = `${source.subject} ${range.after} ${range.limit}`
      const known = shared.get(place)
      if (known !== undefined) return known
      const page = readFresh(source, range)
      if (!(page instanceof Promise)) shared.set(place, page)
      return page
    },
    readLog,
    watch: ({ stream }, watcher) => hub.watch(stream, watcher),
    unwatch: ({ stream }, watcher) => hub.unwatch(stream, watcher),
  }
}

/** A page of the log ends where it was read to, which need not be the end of the log. */
const toPage = (events: readonly DeliveredEvent[]): FeedPage => ({ events, hasMore: events.length > 0 })

function cutOff(
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
    if (length >= PAGE_LENGTH) break
  }
  return { events, hasMore: recent.length === limit || events.length < recent.length }
}

import type { EventLog, EventRange, StoredEvent } from '@berth/ports'
import type { DeliveredEvent, EventSource } from './delivered-event.ts'
import type { RenderEnvelope } from './envelope.ts'
import type { EventHub } from './event-hub.ts'
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
  /** Calls `wake` after each publication to the source. Returns a function that ends it. */
  watch(source: EventSource, wake: () => void): () => void
}

/** An event is rendered once per subject, when the first subscriber reads it, and again when it was long out of memory. */
export function createEventFeed({ events, hub, render }: EventFeedDeps): EventFeed {
  const encoder = new TextEncoder()
  /** Lives as long as the event is held by the hub. */
  const rendered = new WeakMap<StoredEvent, Map<string, DeliveredEvent>>()

  const deliver = (event: StoredEvent, { subject, epoch }: EventSource): DeliveredEvent => ({
    position: event.position,
    type: event.type,
    envelope: encoder.encode(render(event, { subject, epoch })),
  })

  const deliverShared = (event: StoredEvent, source: EventSource): DeliveredEvent => {
    const forms = rendered.get(event) ?? new Map<string, DeliveredEvent>()
    rendered.set(event, forms)
    const known = forms.get(source.subject)
    if (known !== undefined) return known
    const form = deliver(event, source)
    forms.set(source.subject, form)
    return form
  }

  const pages = createLogPages({
    readLog: async (source, range) => (await events.read(source.stream, range)).map((event) => deliver(event, source)),
    generation: hub.forgotten,
  })

  return {
    read(source, range) {
      const recent = hub.recent(source.stream, range)
      if (recent !== undefined) {
        return { events: recent.map((event) => deliverShared(event, source)), hasMore: recent.length === range.limit }
      }
      const page = pages.read(source, range)
      return page instanceof Promise ? page.then(toPage) : toPage(page)
    },
    watch: ({ stream }, wake) => hub.watch(stream, wake),
  }
}

/** A page of the log ends where it was read to, which need not be the end of the log. */
const toPage = (events: readonly DeliveredEvent[]): FeedPage => ({ events, hasMore: events.length > 0 })

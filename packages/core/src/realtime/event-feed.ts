import type { EventLog, EventRange, EventStream, StoredEvent } from '@berth/ports'
import type { RenderEnvelope } from './envelope.ts'
import type { EventHub } from './event-hub.ts'

/** What a subscriber follows: a stream of the log under one of its subjects. */
export interface EventSource {
  readonly stream: EventStream
  readonly subject: string
  /** Of the log. */
  readonly epoch: string
}

/** An event as it leaves the server. */
export interface DeliveredEvent {
  readonly position: number
  readonly type: string
  /** The envelope, JSON in UTF-8; one line. Shared by all subscribers: never changed. */
  readonly envelope: Uint8Array
}

export interface EventFeedDeps {
  readonly events: Pick<EventLog, 'read'>
  readonly hub: EventHub
  readonly render: RenderEnvelope
}

/** The one way of live events to every transport. */
export interface EventFeed {
  /** The next events after a position, oldest first: at once when they are in memory, from the log otherwise. */
  read(source: EventSource, range: EventRange): readonly DeliveredEvent[] | Promise<readonly DeliveredEvent[]>
  /** Calls `wake` after each publication to the source. Returns a function that ends it. */
  watch(source: EventSource, wake: () => void): () => void
}

/** An event in memory is rendered once per subject, when the first subscriber reads it; one from the log at each reading. */
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

  return {
    read(source, range) {
      const recent = hub.recent(source.stream, range)
      if (recent !== undefined) return recent.map((event) => deliverShared(event, source))
      return events.read(source.stream, range).then((page) => page.map((event) => deliver(event, source)))
    },
    watch: ({ stream }, wake) => hub.watch(stream, wake),
  }
}

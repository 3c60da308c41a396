import type { EventStream, JsonText } from '@perdure/ports'

/** A stream of the event log, and the subject under which a subscriber follows it. */
export interface EventSource {
  readonly stream: EventStream
  readonly subject: string
  /** The epoch of the log. */
  readonly epoch: string
}

/** An event in the form that is sent to subscribers. */
export interface DeliveredEvent {
  readonly position: number
  readonly type: string
  /** JSON on one line, rendered once for all subscribers. Transports encode a page at a time. */
  readonly envelope: JsonText
}

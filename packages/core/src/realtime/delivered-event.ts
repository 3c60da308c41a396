import type { EventStream, JsonText } from '@perdure/ports'

/** A stream of the log under one of its subjects, as a subscriber follows it. */
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
  /** One line. Rendered once for all subscribers; transports encode a page at a time. */
  readonly envelope: JsonText
}

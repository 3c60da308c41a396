import type { EventStream, JsonText } from '@perdure/ports'

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
  /** One line. Made once for all subscribers; transports make bytes of a page of them. */
  readonly envelope: JsonText
}

import type { EventStream } from '@berth/ports'

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

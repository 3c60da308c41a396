import type { EpochMs } from './clock.ts'
import type { JsonText } from './json-text.ts'

export type EventPhase = 'commentary'

/** An event that is not yet in the log. It is read back by its run, by its session and by its topic. */
export interface NewEvent {
  readonly runId?: string | undefined
  readonly sessionId?: string | undefined
  /** A further subject that carries it: `agent:echo/events` for the life cycle of a run, `approvals/events`, … */
  readonly topic?: string | undefined
  readonly type: string
  readonly payload: JsonText
  readonly phase?: EventPhase | undefined
  readonly at: EpochMs
}

export interface StoredEvent extends NewEvent {
  /** Place in the whole log; strictly increasing, from 1, never reused. */
  readonly position: number
}

/** Which events: all that carry this run, session or topic. */
export type EventStream = { readonly runId: string } | { readonly sessionId: string } | { readonly topic: string }

export interface EventRange {
  readonly after: number // exclusive position; 0 reads from the start
  readonly limit: number
  /** Ends with the event whose payload brings them to so many characters together; there is always a first one. */
  readonly maxLength?: number | undefined
}

export interface LogHead {
  /** Random id of this database, 1 to 64 letters and digits; positions of another epoch mean nothing here. */
  readonly epoch: string
  readonly position: number // of the newest event, deleted ones included; 0 when there never was one
  readonly trimmedThrough: number // events up to here may have been removed by retention; 0 when none were
}

/** Port. The append-only log of every run; events are appended through `UnitOfWork`. Passes `eventLogContract`. */
export interface EventLog {
  /** The next events of the stream after a position, oldest first. */
  read(stream: EventStream, range: EventRange): Promise<readonly StoredEvent[]>
  /** The newest events of the stream before a position (exclusive), newest first. */
  readBefore(
    stream: EventStream,
    range: { readonly before: number; readonly limit: number },
  ): Promise<readonly StoredEvent[]>
  /** How many events of the stream lie after one position and at or before another. */
  count(stream: EventStream, range: { readonly after: number; readonly through: number }): Promise<number>
  head(): Promise<LogHead>
}

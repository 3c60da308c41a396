import type { EpochMs } from './clock.ts'
import type { JsonText } from './values/json-text.ts'

export type EventPhase = 'commentary'

/** An event that is not yet in the log. It can be read back by run, by session and by topic. */
export interface NewEvent {
  readonly runId?: string | undefined
  readonly sessionId?: string | undefined
  /** Another subject that carries the event: `agent:echo/events` for the lifecycle of a run, `approvals/events`, … */
  readonly topic?: string | undefined
  readonly type: string
  readonly payload: JsonText
  readonly phase?: EventPhase | undefined
  readonly at: EpochMs
}

export interface StoredEvent extends NewEvent {
  /** Position in the whole log: strictly increasing, from 1, never reused. */
  readonly position: number
}

/** Selects all events of one run, session or topic. */
export type EventStream = { readonly runId: string } | { readonly sessionId: string } | { readonly topic: string }

export interface EventRange {
  readonly after: number // exclusive position; 0 reads from the start
  readonly limit: number
  /** Total payload length, in characters, at which the page ends; the event that reaches it is included. */
  readonly maxLength?: number | undefined
}

export interface LogHead {
  /** Random id of this database, 1 to 64 letters and digits. Positions from another epoch are not valid here. */
  readonly epoch: string
  readonly position: number // of the newest event, including deleted ones; 0 if there never was an event
  readonly trimmedThrough: number // retention may have removed events up to here; 0 if it removed none
}

/** How many positions one scan covers. */
export const MAX_SCANNED = 10_000

export interface LogScan {
  readonly events: readonly StoredEvent[]
  readonly through: number // the next scan starts after this position; the start of this one if nothing followed
}

/** Port. Reads the append-only event log; events are appended through `UnitOfWork`. Must pass `eventLogContract`. */
export interface EventLog {
  /** Reads the events of the stream after a position (exclusive), oldest first. */
  read(stream: EventStream, range: EventRange): Promise<readonly StoredEvent[]>
  /** Reads the events of the stream before a position (exclusive), newest first. `maxLength` is as in `EventRange`. */
  readBefore(
    stream: EventStream,
    range: { readonly before: number; readonly limit: number; readonly maxLength?: number | undefined },
  ): Promise<readonly StoredEvent[]>
  /** Counts the events of the stream after one position and at or before another. */
  count(stream: EventStream, range: { readonly after: number; readonly through: number }): Promise<number>
  head(): Promise<LogHead>
  /**
   * Reads the events of these types in the whole log, oldest first. Every event of these types up to `through` is in
   * the result; a scan ends early after `limit` events, when the payloads reach `maxLength`, or after
   * `MAX_SCANNED` positions.
   */
  scan(types: readonly string[], range: EventRange): Promise<LogScan>
}

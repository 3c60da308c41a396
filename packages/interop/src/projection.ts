import type { LogEvent } from '@perdure/core'

/** One message of a protocol stream. */
export interface Frame {
  readonly data: string
  /** The name of the Server-Sent Event; a block without it is a `message`. */
  readonly event?: string
  /** How long a client waits before it reconnects, in milliseconds. */
  readonly retryMs?: number
  /** The reader has the frame already: it is counted, but not sent. */
  readonly isReceived?: boolean
  /** The frame asks something. A reader that resumes after it gets it again while this returns true. */
  readonly isUnanswered?: () => boolean
}

/** What a projection shows about a run besides its events. Fixed when the run starts. */
export interface RunView {
  readonly runId: string
  readonly agentId: string
  readonly sessionId?: string | undefined
}

/**
 * Shows the events of one run as frames of a protocol, to one reader. The frames follow from the events alone, so a
 * reader that resumes, or another process, gets the same frames again.
 */
export interface Projector {
  /** Takes the next event of the log, beginning with the first one, and returns its frames. */
  next(event: LogEvent): readonly Frame[]
  /**
   * The frames with which a response begins. `rest`: the reader gets the frames of later events. `all`: the reader also
   * gets what the events so far have shown, without withdrawn parts.
   */
  opening(of: 'rest' | 'all'): readonly Frame[]
  /** The frames that end the response while the run waits for its client; `undefined` while the response stays open. */
  rest(): readonly Frame[] | undefined
  /** Whether the response has ended, although the run continues. Missing: it ends with the run. */
  isOver?(): boolean
  /** Whether an event of this type can still change anything; if not, it need not be read. Missing: it can. */
  needs?(type: string): boolean
}

/** Readers of a run whose requests have the same `form` get the same frames, which the server renders once for all. */
export interface FrameSharing {
  readonly form: string
  /** Another projector like the one of the request. */
  renew(): Projector
}

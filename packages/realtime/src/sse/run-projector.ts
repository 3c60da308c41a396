import { RUN_ENDING_EVENTS } from '@perdure/protocol'

/** An event as a projector reads it. */
export interface ProjectedEvent {
  readonly eventId: string
  readonly type: string
  readonly payload: unknown
  readonly at: string
}

export interface ProjectedFrame {
  readonly data: string
  readonly event?: string
  readonly retryMs?: number
  /** The reader has the frame already: it is counted, but not sent. */
  readonly isReceived?: boolean
  /** The frame asks something. A reader that resumes after it gets it again while this returns true. */
  readonly isUnanswered?: () => boolean
}

/** Shows the events of one run as frames of a protocol, to one reader. */
export interface RunProjector {
  /** Takes the next event of the run, beginning with the first one, and returns its frames. */
  next(event: ProjectedEvent): readonly ProjectedFrame[]
  /** The frames that begin the response. `all`: they also show what the events so far have shown. */
  opening(of: 'rest' | 'all'): readonly ProjectedFrame[]
  /** The frames that end the response while the run waits for its client; `undefined` while it stays open. */
  rest(): readonly ProjectedFrame[] | undefined
  /** Whether the response has ended, although the run continues. Missing: it ends with the run. */
  isOver?(): boolean
  /** Whether an event of this type can still change anything; if not, it need not be read. Missing: it can. */
  needs?(type: string): boolean
}

/** Whether the response ends with the event of this type, which the projector has just taken. */
export const isLastEvent = ({ isOver }: RunProjector, type: string): boolean =>
  RUN_ENDING_EVENTS.includes(type) || isOver?.() === true

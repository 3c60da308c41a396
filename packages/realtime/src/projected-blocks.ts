import { type DeliveredEvent, type EventSource, formatEventId, parseEventId } from '@perdure/core'
import { fromJsonText, type RunRecord, type YieldTurn } from '@perdure/ports'
import { RUN_ENDING_EVENTS } from '@perdure/protocol'
import { type BlockSource, ENDED, type NextBlocks, WAITING } from './block-source.ts'
import type { Follower } from './follow.ts'
import { formatBlock } from './sse/block.ts'

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

/**
 * Where a response without a cursor begins. `first`: with the first event of the run. `now`: with what the run has shown
 * so far. A function: with the first event for which it returns true, or after the newest event if there is none.
 */
export type ProjectedStart = 'first' | 'now' | ((event: ProjectedEvent) => boolean)

export interface ProjectedStream {
  readonly source: EventSource
  readonly run: RunRecord
  readonly projector: RunProjector
  readonly start: ProjectedStart
  /** The id of the last frame that the reader received. */
  readonly cursor: FrameCursor | undefined
  /** The id of a frame as the reader receives it; `undefined` for none. */
  readonly frameIdOf?: ((frameId: string) => string | undefined) | undefined
  readonly yieldTurn: YieldTurn
  /** Position of the newest event when the stream was opened. */
  readonly head: number
}

/** A frame: the position of its event, and its place among the frames of that event, from 1. */
export interface FrameCursor {
  readonly position: number
  readonly place: number
}

const CHUNK_LENGTH = 32_768

/** How much of the log is projected before other requests get their turn. Characters. */
const TURN_LENGTH = 131_072

/** Parses the id of a frame, `<event id>/<place>`. `undefined` for an id of another log, and for anything else. */
export function parseFrameId(id: string | undefined, epoch: string): FrameCursor | undefined {
  const [, eventId = '', place = ''] = /^(.{1,64})\/(\d{1,9})$/.exec(id ?? '') ?? []
  const cursor = parseEventId(eventId)
  return cursor?.epoch === epoch ? { position: cursor.position, place: Number(place) } : undefined
}

/**
 * The frames of a run. The whole log of the run passes the projector, because what a frame shows can depend on every
 * earlier event; the reader gets the frames after its cursor, or from the start of its response.
 */
export function createProjectedBlocks(stream: ProjectedStream, follower: Follower): BlockSource {
  const { source, run, projector, start, cursor, head, yieldTurn, frameIdOf = (id) => id } = stream
  const { epoch } = source
  let isSkipping = true
  let last: FrameCursor = { position: 0, place: 0 }
  let page: readonly DeliveredEvent[] = []
  /** Blocks that are ready. */
  const queue: string[] = []
  let hasEnded = false
  /** Length of what was projected in this turn. */
  let projected = 0
  /** The questions that the reader got before it resumed. */
  let asked: ProjectedFrame[] = []

  const idOf = ({ position, place }: FrameCursor) => frameIdOf(`${formatEventId({ epoch, position })}/${place}`)

  /** Only the last frame has an id, so that a reader that lost one of them gets all of them again. */
  const open = (of: 'rest' | 'all'): readonly string[] => {
    isSkipping = false
    const frames = projector.opening(of)
    return frames.map((frame, index) => formatBlock(index === frames.length - 1 ? { ...frame, id: idOf(last) } : frame))
  }

  const toBlocks = (frames: readonly ProjectedFrame[]): readonly string[] => {
    const blocks: string[] = []
    for (const frame of frames) {
      last = { ...last, place: last.place + 1 }
      const isKnown = cursor?.position === last.position && last.place <= cursor.place
      if (cursor !== undefined && (isSkipping || isKnown) && frame.isUnanswered !== undefined) asked.push(frame)
      if (!isSkipping && !isKnown && frame.isReceived !== true) blocks.push(formatBlock({ ...frame, id: idOf(last) }))
    }
    return blocks
  }

  /** Whether the response begins at this position, whatever the event is. */
  const beginsAt = (position: number): boolean => {
    if (cursor !== undefined) return position >= cursor.position
    return start === 'now' ? position > head : start === 'first'
  }

  const beginsWith = (event: ProjectedEvent, position: number): boolean =>
    beginsAt(position) || (cursor === undefined && typeof start === 'function' && start(event))

  const project = (event: ProjectedEvent, position: number): readonly string[] => {
    const begins = isSkipping && beginsWith(event, position)
    const shown = begins && cursor === undefined && start === 'now' ? open('all') : []
    const frames = projector.next(event)
    // The event with which a response begins can begin a message, which the opening names.
    const opening = begins && cursor === undefined && start !== 'now' ? open('rest') : shown
    if (begins) isSkipping = false
    last = { position, place: 0 }
    return [...opening, ...toBlocks(frames)]
  }

  /** Joins short blocks. A long one waits for its turn, so that it is not copied together with the others. */
  const enqueue = (blocks: readonly string[]): string => {
    let joined = ''
    for (const block of blocks) {
      if (joined !== '' && joined.length + block.length > CHUNK_LENGTH) {
        queue.push(joined)
        joined = ''
      }
      joined += block
    }
    queue.push(joined)
    return queue.shift() ?? ''
  }

  const renderPage = (): string => {
    const blocks: string[] = []
    let length = 0
    for (const [index, { position, type, envelope }] of page.entries()) {
      projected += envelope.length
      if (projector.needs?.(type) === false && !(isSkipping && beginsAt(position))) {
        last = { position, place: 0 }
        continue
      }
      for (const block of project(fromJsonText(envelope) as ProjectedEvent, position)) {
        blocks.push(block)
        length += block.length
      }
      hasEnded = RUN_ENDING_EVENTS.includes(type) || projector.isOver?.() === true
      if (!hasEnded && length < CHUNK_LENGTH) continue
      page = page.slice(index + 1)
      return enqueue(blocks)
    }
    page = []
    return enqueue(blocks)
  }

  /** The log has no more events for now. */
  const atEnd = (step: typeof WAITING | typeof ENDED): NextBlocks => {
    if (step === ENDED) {
      // The event that ended the run has been deleted.
      hasEnded = true
      const shown = project(endOf(run, formatEventId({ epoch, position: head })), head)
      return enqueue([...shown, ...(isSkipping ? beginAtEnd() : [])])
    }
    const opening = [...(isSkipping ? beginAtEnd() : []), ...askAgain()]
    const closing = projector.rest()
    if (closing === undefined) return opening.length === 0 ? WAITING : enqueue(opening)
    hasEnded = true
    return enqueue([...opening, ...toBlocks(closing)])
  }

  const beginAtEnd = (): readonly string[] => {
    isSkipping = false
    return cursor === undefined ? open(start === 'now' ? 'all' : 'rest') : []
  }

  /** The answer to a question can be lost together with the connection, so the reader is asked once more. */
  const askAgain = (): readonly string[] => {
    const open = asked.filter(({ isUnanswered }) => isUnanswered?.())
    asked = []
    return open.map((frame) => formatBlock({ ...frame, id: idOf(last) }))
  }

  const take = (step: Awaited<ReturnType<Follower['next']>>): NextBlocks => {
    if (typeof step === 'symbol') return atEnd(step)
    page = step
    return renderPage()
  }

  const nextTurn = (): NextBlocks | Promise<NextBlocks> => {
    projected = 0
    return next()
  }

  const next = (): NextBlocks | Promise<NextBlocks> => {
    const queued = queue.shift()
    if (queued !== undefined) return queued
    if (hasEnded) return isSkipping ? enqueue(beginAtEnd()) : ENDED
    if (projected >= TURN_LENGTH) return yieldTurn().then(nextTurn)
    if (page.length > 0) return renderPage()
    const step = follower.next()
    return step instanceof Promise ? step.then(take) : take(step)
  }

  return { next, close: follower.close }
}

/** The event that ended the run, from its record. */
function endOf(run: RunRecord, eventId: string): ProjectedEvent {
  const { id: runId, status, attempt, finishReason, result, error, abortReason, completedAt } = run
  const shown = error === undefined ? undefined : { code: error.code, message: error.message }
  return {
    ...{ eventId, type: `run.${status}`, at: new Date(completedAt ?? run.createdAt).toISOString() },
    payload: {
      ...{ runId, status, attempt, finishReason, error: shown, reason: abortReason },
      result: result === undefined ? undefined : fromJsonText(result),
    },
  }
}

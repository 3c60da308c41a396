import { type DeliveredEvent, type EventSource, formatEventId, parseEventId } from '@perdure/core'
import { fromJsonText, type RunRecord, type YieldTurn } from '@perdure/ports'
import { formatBlock } from './block.ts'
import { type BlockSource, ENDED, type NextBlocks, WAITING } from './block-source.ts'
import type { Follower } from './follow.ts'
import { chunkOf } from './recent-chunks.ts'
import { isLastEvent, type ProjectedEvent, type ProjectedFrame, type RunProjector } from './run-projector.ts'
import type { ProjectedChunk, RenderedEvent, Seat } from './shared-projections.ts'
import { toTexts } from './to-texts.ts'

/**
 * Where a response without a cursor begins. `first`: with the first event of the run. `now`: with what the run has shown
 * so far. A function: with the first event for which it returns true, or after the newest event if there is none.
 */
export type ProjectedStart = 'first' | 'now' | ((event: ProjectedEvent) => boolean)

export interface ProjectedStream {
  readonly source: EventSource
  readonly run: RunRecord
  readonly projector: RunProjector
  /** Missing: nobody else gets the same frames. */
  readonly sharing?: Sharing | undefined
  readonly start: ProjectedStart
  /** The id of the last frame that the reader received. */
  readonly cursor: FrameCursor | undefined
  /** The id of a frame as the reader receives it; `undefined` for none. */
  readonly frameIdOf?: ((frameId: string) => string | undefined) | undefined
  readonly yieldTurn: YieldTurn
  /** Position of the newest event when the stream was opened. */
  readonly head: number
}

/** How a reader shares the rendering of frames with others. */
export interface Sharing {
  readonly seat: Seat
  /** Another projector like the one of the stream, for a reader that was too far behind. */
  renew(): RunProjector
}

/** A frame: the position of its event, and its place among the frames of that event, from 1. */
export interface FrameCursor {
  readonly position: number
  readonly place: number
}

const CHUNK_LENGTH = 32_768

/** How much of the log is projected before other requests get their turn. Characters. */
const TURN_LENGTH = 131_072

/** A short patch can change a long state, so it costs as much as a long event. */
const workOf = ({ type, envelope }: DeliveredEvent): number =>
  type === 'part.state-delta' ? Math.max(TURN_LENGTH, envelope.length) : envelope.length

/** The id of a frame: `<event id>/<place>`. */
export const formatFrameId = (epoch: string, { position, place }: FrameCursor): string =>
  `${formatEventId({ epoch, position })}/${place}`

/** Parses the id of a frame. `undefined` for an id of another log, and for anything else. */
export function parseFrameId(id: string | undefined, epoch: string): FrameCursor | undefined {
  const [, eventId = '', place = ''] = /^(.{1,64})\/(\d{1,9})$/.exec(id ?? '') ?? []
  const cursor = parseEventId(eventId)
  return cursor?.epoch === epoch ? { position: cursor.position, place: Number(place) } : undefined
}

/**
 * The frames of a run. The whole log of the run passes the projector, because what a frame shows can depend on every
 * earlier event; the reader gets the frames after its cursor, or from the start of its response.
 */
export function createProjectedBlocks(stream: ProjectedStream, follow: () => Follower): BlockSource {
  const { source, run, start, head, yieldTurn, frameIdOf = (id) => id } = stream
  const { epoch } = source
  let { projector, cursor, sharing } = stream
  let follower = follow()
  let isSkipping = true
  /** Whether the frames come from the shared rendering. */
  let isShared = false
  let last: FrameCursor = { position: 0, place: 0 }
  let page: readonly DeliveredEvent[] = []
  /** How much of the page was taken. */
  let taken = 0
  /** Blocks that are ready. */
  const queue: string[] = []
  let hasEnded = false
  /** Length of what was projected in this turn. */
  let projected = 0
  /** The questions that the reader got before it resumed. */
  let asked: ProjectedFrame[] = []

  const idOf = (frame: FrameCursor) => frameIdOf(formatFrameId(epoch, frame))

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

  /** The reader is too far behind the shared rendering: it projects the log for itself, and continues after its last frame. */
  const restart = () => {
    sharing?.seat.leave()
    if (sharing !== undefined) projector = sharing.renew()
    sharing = undefined
    isShared = false
    isSkipping = true
    cursor = last
    page = []
    taken = 0
    follower.close()
    follower = follow()
  }

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

  const enqueue = (texts: readonly string[]): string => {
    queue.push(...texts)
    return queue.shift() ?? ''
  }

  const renderPage = (): string => {
    const known = isShared ? sharing?.seat.nextChunk(page, taken) : undefined
    return known === undefined ? renderNext() : takeChunk(known)
  }

  const renderNext = (): string => {
    const start = taken
    const wasShared = isShared
    const before = projected
    const texts = toTexts(renderEvents(), CHUNK_LENGTH)
    if (wasShared && sharing?.seat.hasOthers() === true) {
      const chunk = chunkOf(page, { start, end: taken, texts })
      sharing.seat.keepChunk({ ...chunk, place: last.place, isLast: hasEnded, work: projected - before })
    }
    return enqueue(texts)
  }

  /** Takes events of the page until there is enough to send. */
  const renderEvents = (): readonly string[] => {
    const blocks: string[] = []
    let length = 0
    while (taken < page.length && !hasEnded && length < CHUNK_LENGTH && projected < TURN_LENGTH) {
      const event = page[taken] as DeliveredEvent
      projected += workOf(event)
      const shown = isShared ? takeShared(event) : take(event)
      if (shown === undefined) {
        restart()
        return blocks
      }
      for (const block of shown.blocks) {
        blocks.push(block)
        length += block.length
      }
      hasEnded = shown.isLast
      taken++
    }
    return blocks
  }

  const takeChunk = ({ count, texts, last: position, place, isLast, work }: ProjectedChunk): string => {
    taken += count
    projected += work
    hasEnded = isLast
    last = { position, place }
    return enqueue(texts)
  }

  const takeShared = (event: DeliveredEvent): RenderedEvent | undefined => {
    const shown = sharing?.seat.next(event)
    if (shown !== undefined) last = { position: event.position, place: shown.blocks.length }
    return shown
  }

  const take = (event: DeliveredEvent): RenderedEvent => {
    const { position, type, envelope } = event
    const isNeeded = projector.needs?.(type) !== false || (isSkipping && beginsAt(position))
    const blocks = isNeeded ? project(fromJsonText(envelope) as ProjectedEvent, position) : []
    if (!isNeeded) last = { position, place: 0 }
    isShared = !isSkipping && sharing?.seat.join(position, projector) === true
    return { blocks, isLast: isNeeded && isLastEvent(projector, type) }
  }

  /** The log has no more events for now. */
  const atEnd = (step: typeof WAITING | typeof ENDED): NextBlocks => {
    if (step === ENDED) {
      // The event that ended the run has been deleted.
      hasEnded = true
      const shown = project(endOf(run, formatEventId({ epoch, position: head })), head)
      return enqueue(toTexts([...shown, ...(isSkipping ? beginAtEnd() : [])], CHUNK_LENGTH))
    }
    const opening = [...(isSkipping ? beginAtEnd() : []), ...askAgain()]
    const closing = isShared ? sharing?.seat.rest(last.position) : projector.rest()
    if (closing === undefined) return opening.length === 0 ? WAITING : enqueue(toTexts(opening, CHUNK_LENGTH))
    hasEnded = true
    return enqueue(toTexts([...opening, ...toBlocks(closing)], CHUNK_LENGTH))
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

  const takeStep = (step: Awaited<ReturnType<Follower['next']>>): NextBlocks => {
    if (typeof step === 'symbol') return atEnd(step)
    page = step
    taken = 0
    return renderPage()
  }

  const nextTurn = (): NextBlocks | Promise<NextBlocks> => {
    projected = 0
    return next()
  }

  const next = (): NextBlocks | Promise<NextBlocks> => {
    const queued = queue.shift()
    if (queued !== undefined) return queued
    if (hasEnded) return isSkipping ? enqueue(toTexts(beginAtEnd(), CHUNK_LENGTH)) : ENDED
    if (projected >= TURN_LENGTH) return yieldTurn().then(nextTurn)
    if (taken < page.length) return renderPage()
    const step = follower.next()
    return step instanceof Promise ? step.then(takeStep) : takeStep(step)
  }

  return {
    next,
    close() {
      sharing?.seat.leave()
      follower.close()
    },
  }
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

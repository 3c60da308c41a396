import { type DeliveredEvent, type EventSource, formatEventId, parseEventId } from '@perdure/core'
import { toJsonText } from '@perdure/ports'
import { REPLAY_GAP, RUN_ENDING_EVENTS } from '@perdure/protocol'
import { endsStream } from '../ends-stream.ts'
import type { StartingPoint } from '../starting-point.ts'
import { formatBlock, formatEventBlock } from './block.ts'
import { type BlockSource, ENDED, type NextBlocks } from './block-source.ts'
import type { Follower } from './follow.ts'
import { chunkOf } from './recent-chunks.ts'
import type { ChunkSeat } from './shared-chunks.ts'

export interface StreamBlocks {
  readonly source: EventSource
  /** Set for the stream of a single run, which ends with the run. */
  readonly runId: string | undefined
  readonly start: StartingPoint
  /** The cursor the reader sent. */
  readonly lastEventId: string | undefined
  /** Shares the text of the events with other readers of the source. */
  readonly seat: ChunkSeat
}

const RETRY_MS = 1_000
/**
 * Approximate characters per chunk. A small chunk exceeds the reader's buffer only slightly when little room is left.
 */
const CHUNK_LENGTH = 32_768

/** Returns the reader's cursor, a gap if there is one, then the events, up to the last event of the run or session. */
export function createStreamBlocks(
  { source, runId, start, lastEventId, seat }: StreamBlocks,
  follower: Follower,
): BlockSource {
  const { epoch, stream, subject } = source
  const isLast = (type: string) => (runId !== undefined && RUN_ENDING_EVENTS.includes(type)) || endsStream(stream, type)
  const gap = start.gap === undefined ? '' : gapBlock(start, { subject, epoch, runId })
  let opening = formatBlock({ retryMs: RETRY_MS, id: primingId(start, lastEventId), data: '' }) + gap
  let page: readonly DeliveredEvent[] = []
  /** How much of the page was taken. */
  let taken = 0
  let hasEnded = false

  /** Renders events of the page until the text is long enough, or one of them ends the stream. */
  const renderNext = (): string => {
    let text = ''
    while (taken < page.length && text.length < CHUNK_LENGTH && !hasEnded) {
      const { position, type, envelope } = page[taken] as DeliveredEvent
      text += formatEventBlock(formatEventId({ epoch, position }), type, envelope)
      hasEnded = isLast(type)
      taken++
    }
    return text
  }

  const renderShared = (): string => {
    const start = taken
    const known = seat.find(page, start)
    if (known === undefined) {
      const text = renderNext()
      seat.keep(chunkOf(page, { start, end: taken, texts: [text] }))
      return text
    }
    taken += known.count
    hasEnded = isLast(page[taken - 1]?.type ?? '')
    return known.texts[0] ?? ''
  }

  const takeNext = () => (seat.hasOthers() ? renderShared() : renderNext())

  const render = (step: Awaited<ReturnType<Follower['next']>>): NextBlocks => {
    if (typeof step === 'symbol') return step
    page = step
    taken = 0
    return takeNext()
  }

  return {
    next() {
      if (opening !== '') {
        const first = opening
        opening = ''
        return first
      }
      if (hasEnded) return ENDED
      if (taken < page.length) return takeNext()
      const step = follower.next()
      return step instanceof Promise ? step.then(render) : render(step)
    },
    close() {
      seat.leave()
      follower.close()
    },
  }
}

/**
 * The id of the first block. If there is a gap, it is the cursor that the reader sent, if well-formed: should the
 * connection break before the gap arrives, the next connection reports the gap again.
 */
const primingId = ({ cursor, gap }: StartingPoint, lastEventId: string | undefined): string =>
  gap !== undefined && lastEventId !== undefined && parseEventId(lastEventId) !== undefined ? lastEventId : cursor

/** Moves the reader's cursor past the gap, never backwards. */
function gapBlock(
  { cursor, gap }: StartingPoint,
  { subject, epoch, runId }: { readonly subject: string; readonly epoch: string; readonly runId: string | undefined },
): string {
  const clientCursor = parseEventId(gap?.lastEventId ?? '')
  const isBehindClient = clientCursor?.epoch === epoch && clientCursor.position > (parseEventId(cursor)?.position ?? 0)
  const data = toJsonText({ subject, type: REPLAY_GAP, payload: gap, runId })
  return formatBlock({ ...(isBehindClient ? {} : { id: cursor }), event: REPLAY_GAP, data })
}

import { type DeliveredEvent, type EventSource, formatEventId, parseEventId } from '@perdure/core'
import { toJsonText } from '@perdure/ports'
import { REPLAY_GAP, RUN_ENDING_EVENTS } from '@perdure/protocol'
import { endsStream } from './ends-stream.ts'
import { formatBlock, formatEventBlock } from './sse/block.ts'
import type { StartingPoint } from './starting-point.ts'

export interface StreamBlocks {
  readonly source: EventSource
  /** Set for the stream of a single run, which ends with the run. */
  readonly runId: string | undefined
  readonly start: StartingPoint
  /** The cursor the reader sent. */
  readonly lastEventId: string | undefined
}

const RETRY_MS = 1_000
/**
 * Approximate characters per chunk. A small chunk exceeds the reader's buffer only slightly when little room is left.
 */
const CHUNK_LENGTH = 32_768

/** Yields the reader's cursor, a gap if there is one, then the events, up to the last event of the run or session. */
export async function* renderStreamBlocks(
  { source, runId, start, lastEventId }: StreamBlocks,
  pages: AsyncIterable<readonly DeliveredEvent[]>,
): AsyncGenerator<string, void, void> {
  const { epoch, stream } = source
  yield formatBlock({ retryMs: RETRY_MS, id: primingId(start, lastEventId), data: '' })
  if (start.gap !== undefined) yield gapBlock(start, { subject: source.subject, epoch, runId })
  const isLast = (type: string) => (runId !== undefined && RUN_ENDING_EVENTS.includes(type)) || endsStream(stream, type)
  for await (const events of pages) {
    let chunk = ''
    for (const { position, type, envelope } of events) {
      chunk += formatEventBlock(formatEventId({ epoch, position }), type, envelope)
      if (isLast(type)) return yield chunk
      if (chunk.length < CHUNK_LENGTH) continue
      yield chunk
      chunk = ''
    }
    if (chunk !== '') yield chunk
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

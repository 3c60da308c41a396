import { type DeliveredEvent, type EventSource, formatEventId, parseEventId } from '@perdure/core'
import { toJsonText } from '@perdure/ports'
import { REPLAY_GAP } from '@perdure/protocol'
import { endsStream } from './ends-stream.ts'
import { formatBlock, formatEventBlock } from './sse/block.ts'
import type { StartingPoint } from './starting-point.ts'

export interface StreamBlocks {
  readonly source: EventSource
  /** Where the stream is that of one run: it ends with it. */
  readonly runId: string | undefined
  readonly start: StartingPoint
  /** The cursor the reader came with. */
  readonly lastEventId: string | undefined
}

const RETRY_MS = 1_000
/** So that a reader that leaves room gets little more than that. */
const CHUNK_LENGTH = 32_768
const LAST_EVENTS = new Set(['run.completed', 'run.failed', 'run.aborted'])

/** The blocks of a stream: a cursor, the gap if there is one, the events; of a run or session up to the one that ends it. */
export async function* renderStreamBlocks(
  { source, runId, start, lastEventId }: StreamBlocks,
  pages: AsyncIterable<readonly DeliveredEvent[]>,
): AsyncGenerator<string, void, void> {
  const { epoch, stream } = source
  yield formatBlock({ retryMs: RETRY_MS, id: primingId(start, lastEventId), data: '' })
  if (start.gap !== undefined) yield gapBlock(start, { subject: source.subject, epoch, runId })
  const isLast = (type: string) => (runId !== undefined && LAST_EVENTS.has(type)) || endsStream(stream, type)
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

/** With a gap the reader keeps its own cursor, so that losing the connection before the gap is told does not hide it. */
const primingId = ({ cursor, gap }: StartingPoint, lastEventId: string | undefined): string =>
  gap !== undefined && lastEventId !== undefined && parseEventId(lastEventId) !== undefined ? lastEventId : cursor

/** Moves the reader's cursor past the gap, never back. */
function gapBlock(
  { cursor, gap }: StartingPoint,
  { subject, epoch, runId }: { readonly subject: string; readonly epoch: string; readonly runId: string | undefined },
): string {
  const came = parseEventId(gap?.lastEventId ?? '')
  const isBack = came?.epoch === epoch && came.position > (parseEventId(cursor)?.position ?? 0)
  const data = toJsonText({ subject, type: REPLAY_GAP, payload: gap, runId })
  return formatBlock({ ...(isBack ? {} : { id: cursor }), event: REPLAY_GAP, data })
}

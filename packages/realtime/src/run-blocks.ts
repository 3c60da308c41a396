import { formatEventId, parseEventId, type RenderEnvelope, runSubject } from '@berth/core'
import { type LogHead, type RunRecord, type StoredEvent, toJsonText } from '@berth/ports'
import { formatBlock } from './sse/block.ts'
import type { StartingPoint } from './starting-point.ts'

export interface RunBlocks {
  readonly run: RunRecord
  readonly epoch: LogHead['epoch']
  readonly start: StartingPoint
  /** The cursor the reader came with. */
  readonly lastEventId: string | undefined
  readonly render: RenderEnvelope
}

const RETRY_MS = 1_000
const LAST_EVENTS = new Set(['run.completed', 'run.failed', 'run.aborted'])

/** The blocks of one run's stream: a cursor, the gap if there is one, the events; ends after the event that ends the run. */
export async function* renderRunBlocks(
  { run, epoch, start, lastEventId, render }: RunBlocks,
  events: AsyncIterable<StoredEvent>,
): AsyncGenerator<string, void, void> {
  const subject = runSubject(run)
  yield formatBlock({ retryMs: RETRY_MS, id: primingId(start, lastEventId), data: '' })
  if (start.gap !== undefined) yield gapBlock(start, { subject, runId: run.id, epoch })
  for await (const event of events) {
    const id = formatEventId({ epoch, position: event.position })
    yield formatBlock({ id, event: event.type, data: render(event, { subject, epoch }) })
    if (LAST_EVENTS.has(event.type)) return
  }
}

/** With a gap the reader keeps its own cursor, so that losing the connection before the gap is told does not hide it. */
const primingId = ({ cursor, gap }: StartingPoint, lastEventId: string | undefined): string =>
  gap !== undefined && lastEventId !== undefined && parseEventId(lastEventId) !== undefined ? lastEventId : cursor

/** Moves the reader's cursor past the gap, never back. */
function gapBlock(
  { cursor, gap }: StartingPoint,
  { subject, runId, epoch }: { readonly subject: string; readonly runId: string; readonly epoch: string },
): string {
  const came = parseEventId(gap?.lastEventId ?? '')
  const isBack = came?.epoch === epoch && came.position > (parseEventId(cursor)?.position ?? 0)
  const data = toJsonText({ subject, type: 'replay-gap', payload: gap, runId })
  return formatBlock({ ...(isBack ? {} : { id: cursor }), event: 'replay-gap', data })
}

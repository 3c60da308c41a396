import {
  AppError,
  type EventLog,
  type EventStream,
  fromJsonText,
  type Page,
  type PageQuery,
  type StoredEvent,
} from '@perdure/ports'
import type { RenderEnvelope } from './envelope.ts'
import type { EventEnvelope } from './event-envelope.ts'
import { formatEventId, parseEventId } from './event-id.ts'

export interface EventView {
  readonly stream: EventStream
  readonly subject: string
  /** Without the sanitizer of delivery. */
  readonly raw?: boolean
  readonly render: RenderEnvelope
}

/** A page of a stream's log; the cursor is an event id. @throws AppError `validation-failed` for a foreign cursor */
export async function readEventPage(events: EventLog, view: EventView, page: PageQuery): Promise<Page<EventEnvelope>> {
  const { epoch } = await events.head()
  const read = await readOneMore(events, view.stream, { page, epoch })
  const shown = read.slice(0, page.limit)
  const last = shown.at(-1)
  const hasMore = read.length > page.limit && last !== undefined
  return {
    items: shown.map((event) => fromJsonText(view.render(event, { ...view, epoch })) as EventEnvelope),
    nextCursor: hasMore ? formatEventId({ epoch, position: last.position }) : null,
  }
}

/** One event more than the page holds, so that its reader knows whether there is a next one. */
function readOneMore(
  events: EventLog,
  stream: EventStream,
  { page, epoch }: { readonly page: PageQuery; readonly epoch: string },
): Promise<readonly StoredEvent[]> {
  const limit = page.limit + 1
  const cursor = page.cursor === undefined ? undefined : parseEventId(page.cursor)
  if (page.cursor !== undefined && cursor?.epoch !== epoch) {
    throw new AppError('validation-failed', {
      message: 'cursor: not an event id of this server',
      hint: 'start without one',
    })
  }
  return page.order === 'asc'
    ? events.read(stream, { after: cursor?.position ?? 0, limit })
    : events.readBefore(stream, { before: cursor?.position ?? Number.MAX_SAFE_INTEGER, limit })
}

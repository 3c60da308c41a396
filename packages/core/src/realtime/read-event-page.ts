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

export interface EventPageSource {
  readonly stream: EventStream
  readonly subject: string
  /** Skips the delivery sanitizer. */
  readonly raw?: boolean
  readonly render: RenderEnvelope
}

/**
 * Reads a page of a stream; the cursor is an event id.
 *
 * @throws AppError `validation-failed` if the cursor is not an event id of this log
 */
export async function readEventPage(
  events: EventLog,
  view: EventPageSource,
  page: PageQuery,
): Promise<Page<EventEnvelope>> {
  const { epoch } = await events.head()
  const read = await readWithLookahead(events, view.stream, { page, epoch })
  const shown = read.slice(0, page.limit)
  const last = shown.at(-1)
  const hasMore = read.length > page.limit && last !== undefined
  return {
    items: shown.map((event) => fromJsonText(view.render(event, { ...view, epoch })) as EventEnvelope),
    nextCursor: hasMore ? formatEventId({ epoch, position: last.position }) : null,
  }
}

/** Reads one event more than the page holds, to learn whether there is a next page. */
function readWithLookahead(
  events: EventLog,
  stream: EventStream,
  { page, epoch }: { readonly page: PageQuery; readonly epoch: string },
): Promise<readonly StoredEvent[]> {
  const limit = page.limit + 1
  const cursor = page.cursor === undefined ? undefined : parseEventId(page.cursor)
  if (page.cursor !== undefined && cursor?.epoch !== epoch) {
    throw new AppError('validation-failed', {
      message: 'cursor: was not issued by this server',
      hint: 'omit cursor to start with the first page',
    })
  }
  return page.order === 'asc'
    ? events.read(stream, { after: cursor?.position ?? 0, limit })
    : events.readBefore(stream, { before: cursor?.position ?? Number.MAX_SAFE_INTEGER, limit })
}

import {
  type EventLog,
  type EventStream,
  type JsonText,
  MAX_PAGE_BYTES,
  type Page,
  type PageQuery,
  perdureError,
  type StoredEvent,
  utf8Length,
} from '@perdure/ports'
import type { PageItem } from '../json/json-page.ts'
import { BATCH_LENGTH } from './each-event.ts'
import type { RenderEnvelope } from './envelope.ts'
import { formatEventId, parseEventId } from './event-id.ts'
import { outlineEvent } from './outline-event.ts'

export interface EventPageSource {
  readonly stream: EventStream
  readonly subject: string
  /** Skips the delivery sanitizer. */
  readonly raw?: boolean
  readonly render: RenderEnvelope
  /** Selects the events of the page; by default all. */
  readonly matches?: (event: StoredEvent) => boolean
  /** Changes the envelope of an event into the item of the page. */
  readonly toItem?: (envelope: JsonText) => JsonText
}

/**
 * Reads a page of a stream, each event as JSON; the cursor is an event id. The payloads count towards the size of the
 * page. Reads in small batches. On a long page, a long event stays in the log until the client takes it.
 *
 * @throws PerdureError `validation-failed` if the cursor is not an event id of this log
 */
export async function readEventPage(events: EventLog, view: EventPageSource, page: PageQuery): Promise<Page<PageItem>> {
  const { epoch } = await events.head()
  const { stream, subject, raw, render, matches = () => true, toItem = (envelope) => envelope } = view
  const show = (event: StoredEvent, isRepeat: boolean) => toItem(render(event, { subject, epoch, raw, isRepeat }))
  const items: PageItem[] = []
  let bytes = 0
  let short: StoredEvent[] = []
  let last: number | undefined
  const pageOf = (hasMore: boolean): Page<PageItem> => ({
    items: [...items, ...short.map((event) => show(event, false))],
    nextCursor: hasMore && last !== undefined ? formatEventId({ epoch, position: last }) : null,
  })

  for await (const event of eventsFrom(events, stream, { ...page, from: positionOf(page, epoch) })) {
    if (!matches(event)) continue
    bytes += utf8Length(event.payload)
    const count = items.length + short.length
    if (count === page.limit || (count > 0 && bytes > MAX_PAGE_BYTES)) return pageOf(true)
    last = event.position
    short.push(event)
    if (bytes <= BATCH_LENGTH) continue
    items.push(...short.map((one) => outlineEvent(events, { stream, show }, one)))
    short = []
  }
  return pageOf(false)
}

/** Position of the cursor; undefined without a cursor. */
function positionOf({ cursor }: PageQuery, epoch: string): number | undefined {
  if (cursor === undefined) return undefined
  const parsed = parseEventId(cursor)
  if (parsed?.epoch === epoch) return parsed.position
  throw perdureError('validation-failed', {
    message: 'cursor: was not issued by this server',
    hint: 'omit cursor to start with the first page',
  })
}

/** Reads the stream batch by batch, in the order of the page. The first batch has one event more than the page. */
async function* eventsFrom(
  events: EventLog,
  stream: EventStream,
  { order, limit: pageLimit, from }: Pick<PageQuery, 'order' | 'limit'> & { readonly from: number | undefined },
): AsyncGenerator<StoredEvent, void, void> {
  const range = { limit: pageLimit + 1, maxLength: BATCH_LENGTH }
  let position = from ?? (order === 'asc' ? 0 : Number.MAX_SAFE_INTEGER)
  for (;;) {
    const batch =
      order === 'asc'
        ? await events.read(stream, { ...range, after: position })
        : await events.readBefore(stream, { ...range, before: position })
    yield* batch
    position = batch.at(-1)?.position ?? position
    const length = batch.reduce((sum, { payload }) => sum + payload.length, 0)
    if (batch.length < range.limit && length < BATCH_LENGTH) return
  }
}

import {
  type EventLog,
  type EventStream,
  type JsonText,
  MAX_SHORT_BYTES,
  type StoredEvent,
  utf8Length,
} from '@perdure/ports'
import type { PageItem } from '../json/json-page.ts'

export interface OutlineSource {
  readonly stream: EventStream
  /** Renders an event as JSON. Called with `isRepeat` for an event that it has rendered before. */
  readonly show: (event: StoredEvent, isRepeat: boolean) => JsonText
  /** A longer event stays in the log. */
  readonly maxShortBytes?: number
}

/** Renders an event as JSON. A long event stays in the log, and is read again for each part that is sent. */
export function outlineEvent(
  events: Pick<EventLog, 'read'>,
  { stream, show, maxShortBytes = MAX_SHORT_BYTES }: OutlineSource,
  event: StoredEvent,
): PageItem {
  const text = show(event, false)
  const bytes = utf8Length(text)
  return bytes <= maxShortBytes ? text : storedEvent(events, { stream, show }, { position: event.position, bytes })
}

function storedEvent(
  events: Pick<EventLog, 'read'>,
  { stream, show }: OutlineSource,
  { position, bytes }: { readonly position: number; readonly bytes: number },
): PageItem {
  const read = async (offset: number, length: number) => {
    const [event] = await events.read(stream, { after: position - 1, limit: 1 })
    if (event?.position !== position) return undefined
    // A copy, because a view would keep the whole event in memory.
    return new TextEncoder().encode(show(event, true)).slice(offset, offset + length)
  }
  return [{ bytes, read }]
}

import type { EventStream } from '@perdure/ports'

/**
 * Whether an event of this type ends the stream. A session stream ends with the deletion of its session, because
 * another owner can reuse the id, and the reader may not see the events of that owner's session.
 */
export const endsStream = (stream: EventStream, type: string): boolean =>
  'sessionId' in stream && type === 'session.deleted'

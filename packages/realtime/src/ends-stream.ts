import type { EventStream } from '@perdure/ports'

/**
 * Whether an event of this type ends the stream. The id of a deleted session can be reused by another owner, whose
 * events this reader may not see.
 */
export const endsStream = (stream: EventStream, type: string): boolean =>
  'sessionId' in stream && type === 'session.deleted'

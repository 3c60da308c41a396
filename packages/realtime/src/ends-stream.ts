import type { EventStream } from '@perdure/ports'

/**
 * Whether an event of this type is the last one of what the stream was opened for. The id of a deleted session may be
 * used again, by somebody whose events this reader was never allowed to see.
 */
export const endsStream = (stream: EventStream, type: string): boolean =>
  'sessionId' in stream && type === 'session.deleted'

import { type EpochMs, type JsonText, type NewEvent, type NewMessage, toJsonText, type Write } from '@perdure/ports'

export type SessionEventType = 'session.created' | 'session.updated' | 'session.deleted' | 'session.message'

/** An event that the session alone carries. */
export const sessionEvent = (
  sessionId: string,
  type: SessionEventType,
  detail: { readonly payload: JsonText; readonly at: EpochMs },
): NewEvent => ({ sessionId, type, ...detail })

/** A line of the transcript and the event that tells of it. */
export function messageWrites(message: NewMessage): readonly Write[] {
  const { id, sessionId, role, runId, createdAt } = message
  const payload = toJsonText({ messageId: id, role, runId })
  return [
    { type: 'message.append', message },
    { type: 'event.append', events: [sessionEvent(sessionId, 'session.message', { payload, at: createdAt })] },
  ]
}

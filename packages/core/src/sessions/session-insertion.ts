import { type NewEvent, type SessionRecord, toJsonText, type Write } from '@perdure/ports'
import { sessionEvent } from './message-writes.ts'

/** A new session and the event that tells of it. */
export const insertSession = (session: SessionRecord): readonly Write[] => [
  { type: 'session.insert', session },
  { type: 'event.append', events: [recordEvent(session, 'session.created')] },
]

/** The event that carries the session as it is now. */
export function recordEvent(session: SessionRecord, type: 'session.created' | 'session.updated'): NewEvent {
  const { id, owner, title, userId, agentId, metadata, updatedAt } = session
  return sessionEvent(id, type, { payload: toJsonText({ id, owner, title, userId, agentId, metadata }), at: updatedAt })
}

import { type NewEvent, type SessionRecord, toJsonText, type Write } from '@perdure/ports'
import { sessionEvent } from './message-writes.ts'

/** Inserts a session, with its event. */
export const insertSession = (session: SessionRecord): readonly Write[] => [
  { type: 'session.insert', session },
  { type: 'event.append', events: [recordEvent(session, 'session.created')] },
]

/** An event that contains the current session. */
export function recordEvent(session: SessionRecord, type: 'session.created' | 'session.updated'): NewEvent {
  const { createdAt, updatedAt, ...members } = session
  return sessionEvent(session.id, type, { payload: toJsonText(members), at: updatedAt })
}

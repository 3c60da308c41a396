import {
  type EpochMs,
  type JsonText,
  type NewEvent,
  type NewMessage,
  type RunRecord,
  toJsonText,
  type Write,
} from '@perdure/ports'
import { briefOf } from './message-brief.ts'

export type SessionEventType = 'session.created' | 'session.updated' | 'session.deleted' | 'session.message'

/** An event that belongs only to the stream of the session. */
export const sessionEvent = (
  sessionId: string,
  type: SessionEventType,
  detail: { readonly payload: JsonText; readonly at: EpochMs },
): NewEvent => ({ sessionId, type, ...detail })

/** Appends a message of a run to the transcript, with its event. */
export function messageWrites(
  run: Pick<RunRecord, 'kind' | 'targetId'>,
  message: NewMessage,
  brief = briefOf(run, message),
): readonly Write[] {
  const { id, sessionId, role, runId, createdAt } = message
  const payload = toJsonText({ messageId: id, role, runId })
  return [
    { type: 'message.append', message, brief },
    { type: 'event.append', events: [sessionEvent(sessionId, 'session.message', { payload, at: createdAt })] },
  ]
}

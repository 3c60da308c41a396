import * as v from 'valibot'
import { Message, Session } from './sessions.ts'

/** The session without its timestamps. */
export const SessionEvent = v.object({
  ...v.omit(Session, ['createdAt', 'updatedAt']).entries,
  metadata: v.optional(Session.entries.metadata),
})

/**
 * Refers to a message. Clients read its content from the transcript, because the content can exceed the size of an
 * event.
 */
export const MessageEvent = v.object({ messageId: v.string(), ...v.pick(Message, ['role', 'runId']).entries })

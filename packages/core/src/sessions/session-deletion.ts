import { definedMembers, type EpochMs, type SessionRecord, toJsonText, type Write } from '@perdure/ports'
import { answerAfterDeletion } from '../idempotency/answer-after-deletion.ts'
import { sessionEvent } from './message-writes.ts'

const DELETED = answerAfterDeletion('session-not-found', 'session')

/** Deletes a session with everything that belongs to it, and appends an event that contains none of its content. */
export const sessionDeletion = (
  { id, owner }: Pick<SessionRecord, 'id' | 'owner'>,
  { at, idleSince }: { readonly at: EpochMs; readonly idleSince?: EpochMs },
): readonly Write[] => [
  { type: 'session.delete', id, answer: DELETED, ...definedMembers({ idleSince }) },
  { type: 'event.append', events: [sessionEvent(id, 'session.deleted', { payload: toJsonText({ id, owner }), at })] },
]

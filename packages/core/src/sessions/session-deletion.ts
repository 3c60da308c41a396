import { type EpochMs, type SessionRecord, toJsonText, type Write } from '@perdure/ports'
import { answerOfDeleted } from '../idempotency/answer-of-deleted.ts'
import { sessionEvent } from './message-writes.ts'

const DELETED = answerOfDeleted('session-not-found', 'session')

/** A session goes, with all that belongs to it; an event that holds nothing of it says so. */
export const sessionDeletion = (
  { id, owner }: Pick<SessionRecord, 'id' | 'owner'>,
  { at, idleSince }: { readonly at: EpochMs; readonly idleSince?: EpochMs },
): readonly Write[] => [
  { type: 'session.delete', id, answer: DELETED, ...(idleSince === undefined ? {} : { idleSince }) },
  { type: 'event.append', events: [sessionEvent(id, 'session.deleted', { payload: toJsonText({ id, owner }), at })] },
]

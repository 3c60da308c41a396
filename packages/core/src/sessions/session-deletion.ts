import { type EpochMs, type SessionRecord, toJsonText, type Write } from '@berth/ports'
import { sessionEvent } from './message-writes.ts'

/** What a key gets from now on whose answer held content of a deleted session, with the id of the request that asks. */
const DELETED = {
  status: 404,
  body: toJsonText({
    error: 'session-not-found',
    message: 'what this request was answered with has been deleted with its session',
  }),
  contentType: 'application/json; charset=utf-8',
} as const

/** A session goes, with all that belongs to it; an event that holds nothing of it says so. */
export const sessionDeletion = (
  { id, owner }: Pick<SessionRecord, 'id' | 'owner'>,
  { at, idleSince }: { readonly at: EpochMs; readonly idleSince?: EpochMs },
): readonly Write[] => [
  { type: 'session.delete', id, answer: DELETED, ...(idleSince === undefined ? {} : { idleSince }) },
  { type: 'event.append', events: [sessionEvent(id, 'session.deleted', { payload: toJsonText({ id, owner }), at })] },
]

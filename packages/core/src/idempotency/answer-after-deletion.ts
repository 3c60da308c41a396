import { type StoredResponse, toJsonText } from '@perdure/ports'

/** Replaces a stored answer whose content was deleted. A replay adds the id of the current request. */
export const answerAfterDeletion = (
  error: 'session-not-found' | 'thread-not-found' | 'run-not-found',
  what: 'session' | 'thread' | 'owner',
): StoredResponse => ({
  status: 404,
  body: toJsonText({ error, message: `the stored answer was deleted together with its ${what}` }),
  contentType: 'application/json; charset=utf-8',
})

import { type StoredResponse, toJsonText } from '@perdure/ports'

/** What a key gets from now on whose answer held content of something deleted, with the id of the request that asks. */
export const answerOfDeleted = (
  error: 'session-not-found' | 'thread-not-found',
  what: 'session' | 'thread',
): StoredResponse => ({
  status: 404,
  body: toJsonText({ error, message: `what this request was answered with has been deleted with its ${what}` }),
  contentType: 'application/json; charset=utf-8',
})

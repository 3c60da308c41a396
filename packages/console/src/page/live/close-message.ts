import { CLOSE_CODES, type CloseName } from '@perdure/protocol'

const MESSAGES: Readonly<Record<CloseName, string>> = {
  'auth.required': 'This browser has no session. Sign in again.',
  'auth.invalid': 'The session is no longer valid, or it has expired. Sign in again.',
  'auth.revoked': 'The session was revoked. Sign in again.',
  'auth.scope_denied': 'The scopes of this session no longer allow these events.',
  'rate.limited': 'This page has sent too many messages. It connects again in a few seconds.',
  'flow.throttled': 'This browser has read too slowly. It continues where it stopped.',
  'server.shutdown': 'The server is shutting down. This page connects again when the server is back.',
  'protocol.violation': 'The server has not understood this page, perhaps because it was updated. Reload the page.',
}

const BY_CODE = new Map<number, string>(
  (Object.keys(MESSAGES) as CloseName[]).map((name) => [CLOSE_CODES[name].code, MESSAGES[name]]),
)

/** What to tell the reader after the connection was closed; `undefined` if the network has cut it. */
export const closeMessage = (code: number): string | undefined => BY_CODE.get(code)

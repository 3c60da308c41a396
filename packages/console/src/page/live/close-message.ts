/** Why the server has closed the connection, by close code. */
const MESSAGES: Readonly<Record<number, string>> = {
  4001: 'This browser has no session. Sign in again.',
  4002: 'The session is no longer valid, or it has expired. Sign in again.',
  4003: 'The session was revoked. Sign in again.',
  4004: 'The scopes of this session no longer allow these events.',
  4005: 'This page has sent too many messages. It connects again in a few seconds.',
  4006: 'This browser has read too slowly. It continues where it stopped.',
  4007: 'The server is shutting down. This page connects again when the server is back.',
  4008: 'The server has not understood this page, perhaps because it was updated. Reload the page.',
}

/** What to tell the reader after the connection was closed; `undefined` if the network has cut it. */
export const closeMessage = (code: number): string | undefined => MESSAGES[code]

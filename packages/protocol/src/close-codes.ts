export interface CloseCodeSpec {
  readonly code: number
  readonly summary: string
}

/** Why the server closes a WebSocket. The name is the close reason on the wire. Permanent. */
export const CLOSE_CODES = {
  'auth.required': { code: 4001, summary: 'The upgrade carried no credentials.' },
  'auth.invalid': {
    code: 4002,
    summary: 'The token is invalid or expired, or the ticket is unknown, expired or already used.',
  },
  'auth.revoked': { code: 4003, summary: 'The token was revoked.' },
  'auth.scope_denied': {
    code: 4004,
    summary: 'The token has no scope that allows a subscription, or no longer has one.',
  },
  'rate.limited': { code: 4005, summary: 'The client sent too many messages.' },
  'flow.throttled': { code: 4006, summary: 'The client reads too slowly; it can resume from its cursor.' },
  'server.shutdown': { code: 4007, summary: 'The server is shutting down.' },
  'protocol.violation': { code: 4008, summary: 'The client violated the protocol.' },
} as const satisfies Record<string, CloseCodeSpec>

export type CloseName = keyof typeof CLOSE_CODES

export interface RpcCodeSpec {
  readonly code: number
  readonly summary: string
}

/** Numeric JSON-RPC error codes on the WebSocket. Permanent. */
export const RPC_CODES = {
  'parse-error': {
    code: -32700,
    summary: 'The message is not JSON; three such messages in a row close the connection.',
  },
  'invalid-request': { code: -32600, summary: 'The message is not a JSON-RPC 2.0 request, or it is a batch.' },
  'method-not-found': { code: -32601, summary: 'No such method.' },
  'invalid-params': { code: -32602, summary: 'The parameters do not match the method, or the subject is malformed.' },
  'internal-error': { code: -32603, summary: 'The server failed.' },
  'auth-required': { code: -32001, summary: 'The connection carries no credentials.' },
  'auth-invalid': { code: -32002, summary: 'The credentials are not valid, or no longer valid.' },
  'scope-denied': { code: -32003, summary: 'The scopes of the caller do not cover this request.' },
  'rate-limited': { code: -32004, summary: 'A limit of the connection is reached.' },
  'protocol-violation': {
    code: -32005,
    summary: 'The message is not allowed at this point, for example before initialize.',
  },
  'run-not-found': { code: -32010, summary: 'No such run, or the caller may not see it.' },
  'subscription-not-found': { code: -32011, summary: 'This connection has no such subscription.' },
} as const satisfies Record<string, RpcCodeSpec>

export type RpcErrorName = keyof typeof RPC_CODES

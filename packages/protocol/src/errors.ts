/** One row of the error catalogue. */
export interface ErrorSpec {
  /** HTTP status of a refused request. Errors that only travel as data (a failed run) have the status of a direct answer. */
  readonly status: number
  /** Which property of the error carries its identifier: `code` for agents, sessions and workflows, `kind` for all others. */
  readonly family: 'code' | 'kind'
  /** Whether the same request may succeed later without being changed. */
  readonly retryable: boolean
  readonly summary: string
}

/** Every error identifier a client may meet. Permanent: a row is never renamed or reused. Sorted by status, then name. */
// biome-ignore format: a table is read by its rows
export const ERRORS = {
  'idempotency-key-invalid': { status: 400, family: 'kind', retryable: false, summary: 'The Idempotency-Key header is not 1 to 255 visible ASCII characters.' },
  'idempotency-key-required': { status: 400, family: 'kind', retryable: false, summary: 'The server enforces Idempotency-Key on this route and the header is missing.' },
  'invalid-input': { status: 400, family: 'code', retryable: false, summary: 'The input does not match the schema the agent or workflow was registered with.' },
  'invalid-json': { status: 400, family: 'kind', retryable: false, summary: 'The body is not strict JSON: malformed, duplicate or forbidden keys, or nested too deeply.' },
  'validation-failed': { status: 400, family: 'kind', retryable: false, summary: 'A parameter, header or body member is missing, malformed or unknown.' },
  'auth-expired': { status: 401, family: 'kind', retryable: false, summary: 'The token has expired.' },
  'auth-invalid': { status: 401, family: 'kind', retryable: false, summary: 'The token is malformed or unknown.' },
  'auth-required': { status: 401, family: 'kind', retryable: false, summary: 'The request carries no credentials.' },
  'auth-revoked': { status: 401, family: 'kind', retryable: false, summary: 'The token has been revoked.' },
  'cors-denied': { status: 403, family: 'kind', retryable: false, summary: 'The request comes from a page whose origin server.cors.allowOrigins does not list.' },
  'csrf-denied': { status: 403, family: 'kind', retryable: false, summary: 'A page of another site made the browser send this, where a browser needs no token: with a cookie, or with auth.kind none.' },
  'mcp-headers-denied': { status: 403, family: 'kind', retryable: false, summary: 'The headersRef of the MCP server is not in mcp.allowHeadersRefs.' },
  'mcp-host-denied': { status: 403, family: 'kind', retryable: false, summary: 'The host of the MCP server is not in mcp.allowHosts.' },
  'scope-denied': { status: 403, family: 'kind', retryable: false, summary: 'The token does not hold a scope this route demands.' },
  'scope-escalation-denied': { status: 403, family: 'kind', retryable: false, summary: 'A token may mint only within its own scopes.' },
  'agent-not-found': { status: 404, family: 'code', retryable: false, summary: 'No agent is registered under this id.' },
  'approval-not-found': { status: 404, family: 'code', retryable: false, summary: 'No such approval, or it may not be seen.' },
  'dead-letter-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No such consolidator dead letter.' },
  'mcp-server-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No MCP server is bound under this id.' },
  'mcp-tool-not-found': { status: 404, family: 'kind', retryable: false, summary: 'The MCP server has no tool of this name.' },
  'memory-block-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No such memory block, or it may not be seen.' },
  'memory-conflict-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No such memory conflict, or it may not be seen.' },
  'memory-fact-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No such memory fact, or it may not be seen.' },
  'route-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No route has this path.' },
  'run-not-found': { status: 404, family: 'code', retryable: false, summary: 'No such run, or it may not be seen.' },
  'session-not-found': { status: 404, family: 'code', retryable: false, summary: 'No such session, or it may not be seen.' },
  'skill-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No skill has this name.' },
  'thread-not-found': { status: 404, family: 'code', retryable: false, summary: 'No such workflow thread, or it may not be seen.' },
  'token-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No such token.' },
  'trigger-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No trigger is known under this id.' },
  'workflow-not-found': { status: 404, family: 'code', retryable: false, summary: 'No workflow is registered under this id.' },
  'method-not-allowed': { status: 405, family: 'kind', retryable: false, summary: 'The path exists, but not with this method; the Allow header lists the methods.' },
  'request-timeout': { status: 408, family: 'kind', retryable: true, summary: 'The request was not received in time.' },
  'agent-busy': { status: 409, family: 'code', retryable: true, summary: 'The agent, its session or the thread runs one thing at a time and is running it now.' },
  'approval-resolved': { status: 409, family: 'code', retryable: false, summary: 'The approval was already decided, and differently.' },
  'idempotency-conflict': { status: 409, family: 'kind', retryable: false, summary: 'The Idempotency-Key was used before with another request.' },
  'idempotency-in-flight': { status: 409, family: 'kind', retryable: true, summary: 'The first request with this Idempotency-Key is still executing.' },
  'mcp-server-exists': { status: 409, family: 'kind', retryable: false, summary: 'An MCP server is already bound under this id.' },
  'memory-conflict-resolved': { status: 409, family: 'kind', retryable: false, summary: 'The memory conflict was already decided, and differently.' },
  'resume-without-suspension': { status: 409, family: 'code', retryable: false, summary: 'The workflow thread is not suspended.' },
  'run-not-active': { status: 409, family: 'code', retryable: false, summary: 'The run has already ended.' },
  'run-not-suspended': { status: 409, family: 'code', retryable: false, summary: 'The run is not suspended.' },
  'session-exists': { status: 409, family: 'code', retryable: false, summary: 'A session already has this id.' },
  'skill-exists': { status: 409, family: 'kind', retryable: false, summary: 'A skill of this name is already installed.' },
  'token-not-active': { status: 409, family: 'kind', retryable: false, summary: 'The token is revoked, expired or already replaced.' },
  'trigger-exists': { status: 409, family: 'kind', retryable: false, summary: 'A trigger already has this id.' },
  'workflow-divergence': { status: 409, family: 'code', retryable: false, summary: 'The workflow code no longer matches the steps that were recorded.' },
  'body-too-large': { status: 413, family: 'kind', retryable: false, summary: 'The request body exceeds the limit.' },
  'unsupported-media-type': { status: 415, family: 'kind', retryable: false, summary: 'The body is not application/json, or it is encoded.' },
  'host-denied': { status: 421, family: 'kind', retryable: false, summary: 'The Host header names a host this server does not answer for.' },
  'auth-locked-out': { status: 429, family: 'kind', retryable: true, summary: 'Too many failed attempts from this address.' },
  'rate-limit-exceeded': { status: 429, family: 'kind', retryable: true, summary: 'Too many requests from this address.' },
  'ticket-limit-exceeded': { status: 429, family: 'kind', retryable: true, summary: 'Too many unused WebSocket tickets are outstanding for this token.' },
  'headers-too-large': { status: 431, family: 'kind', retryable: false, summary: 'The header block or the number of header fields exceeds the limit.' },
  'attempts-exhausted': { status: 500, family: 'code', retryable: false, summary: 'The run was attempted as often as it may be and never finished.' },
  'budget-exhausted': { status: 500, family: 'code', retryable: false, summary: 'The run has used up its budget.' },
  'internal-error': { status: 500, family: 'kind', retryable: false, summary: 'The server failed; the log has the details under the request id.' },
  'run-failed': { status: 500, family: 'code', retryable: false, summary: 'The agent threw an error without an identifier of its own.' },
  'run-interrupted': { status: 500, family: 'code', retryable: false, summary: 'The server stopped while the run was executing; its outside effects may have happened.' },
  'step-failed': { status: 500, family: 'code', retryable: false, summary: 'A workflow step failed and has no retries left.' },
  unknown: { status: 500, family: 'kind', retryable: false, summary: 'A foreign error without an identifier.' },
  'not-implemented': { status: 501, family: 'kind', retryable: false, summary: 'The operation is part of the interface and has no implementation in this release.' },
  'timer-driver-store-unsupported': { status: 501, family: 'code', retryable: false, summary: 'The storage adapter cannot hold durable timers.' },
  SQLITE_BUSY: { status: 503, family: 'code', retryable: true, summary: 'The database is locked by another process. Also carries the kind sqlite-busy.' },
  'audit-unavailable': { status: 503, family: 'kind', retryable: true, summary: 'The audit entry could not be written, so nothing was done.' },
  'mcp-server-unavailable': { status: 503, family: 'kind', retryable: true, summary: 'The MCP server cannot be reached, or does not behave like one.' },
  overloaded: { status: 503, family: 'kind', retryable: true, summary: 'A limit on open streams or connections is reached.' },
  'queue-full': { status: 503, family: 'code', retryable: true, summary: 'The queue of waiting runs is full.' },
  'server-draining': { status: 503, family: 'kind', retryable: true, summary: 'The server is shutting down and takes no new runs.' },
  'storage-failed': { status: 503, family: 'kind', retryable: true, summary: 'The storage failed and the outcome is unknown; the server stops accepting.' },
  'storage-full': { status: 503, family: 'kind', retryable: true, summary: 'The disk is full: reads work, writes do not.' },
} as const satisfies Record<string, ErrorSpec>

export type ErrorCode = keyof typeof ERRORS

/** Why a start was refused: these travel on stderr with exit code 2, never over HTTP. */
export const START_ERRORS = {
  'address-in-use': 'Another process listens on the address.',
  'bind-failed': 'The address cannot be listened on.',
  'config-invalid': 'A configuration field is unknown, malformed or contradicts another.',
  'encryption-passphrase-missing': 'Encryption is enabled and its passphraseRef is not set.',
  'encryption-passphrase-wrong': 'The encrypted file cannot be read with this passphrase.',
  'encryption-peer-missing': 'Encryption is enabled and its optional package is not installed.',
  'hook-failed': 'The beforeStart or the onReady hook threw.',
  'migration-failed': 'A storage migration failed and was undone.',
  'node-too-old': 'This Node.js cannot load the storage driver.',
  'pepper-missing': 'Token authentication needs a pepper and auth.pepperRef is not set.',
  'pepper-weak': 'The pepper is shorter than 32 bytes.',
  'secret-unresolvable': 'A secret reference does not resolve.',
  'storage-corrupt': 'The database file is damaged or not a database.',
  'storage-locked': 'Another process holds the database file.',
  'storage-newer-schema': 'The database file was written by a newer release.',
  'tracing-peer-missing': 'telemetry.traces is on and its optional package is not installed.',
} as const satisfies Record<string, string>

export type StartErrorKind = keyof typeof START_ERRORS

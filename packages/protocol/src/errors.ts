/** One row of the error catalogue. */
export interface ErrorSpec {
  /**
   * HTTP status of the error response. An error that only travels as data, such as the error of a failed run, has the
   * status that an error response would have.
   */
  readonly status: number
  /**
   * Property that carries the identifier where the error is stored as data: `code` for agents, sessions and workflows,
   * `kind` for all others.
   */
  readonly family: 'code' | 'kind'
  /** A second identifier, sent in `kind`, for an error whose family is `code`. */
  readonly alias?: string
  /** The `code` in an answer to an OpenAI client, where its clients compare with a word of OpenAI. */
  readonly openai?: string
  /** Whether the same request, unchanged, can succeed later. */
  readonly retryable: boolean
  readonly summary: string
}

/**
 * Every error identifier that a client can receive. Permanent: a row is never renamed or reused. Sorted by status, then
 * name.
 */
// biome-ignore format: one line per table row
export const ERRORS = {
  'idempotency-key-invalid': { status: 400, family: 'kind', retryable: false, summary: 'The Idempotency-Key header must be 1 to 255 visible ASCII characters.' },
  'idempotency-key-required': { status: 400, family: 'kind', retryable: false, summary: 'The Idempotency-Key header is missing, and the server requires it on this route.' },
  'invalid-input': { status: 400, family: 'code', retryable: false, summary: 'The input does not match the schema registered for the agent or workflow.' },
  'invalid-json': { status: 400, family: 'kind', retryable: false, summary: 'The body is not strict JSON: it is malformed, has a duplicate or forbidden key, or is nested too deeply.' },
  'unsupported-parameter': { status: 400, family: 'kind', retryable: false, openai: 'unsupported_parameter', summary: 'The server does not support this value of a parameter.' },
  'validation-failed': { status: 400, family: 'kind', retryable: false, summary: 'A parameter, header or body member is missing, malformed or unknown.' },
  'version-unknown': { status: 400, family: 'code', retryable: false, summary: 'This version of the agent or workflow is not registered.' },
  'auth-expired': { status: 401, family: 'kind', retryable: false, summary: 'The token has expired.' },
  'auth-invalid': { status: 401, family: 'kind', retryable: false, summary: 'The token is malformed or unknown.' },
  'auth-required': { status: 401, family: 'kind', retryable: false, summary: 'The request carries no credentials.' },
  'auth-revoked': { status: 401, family: 'kind', retryable: false, summary: 'The token has been revoked.' },
  'hook-signature-invalid': { status: 401, family: 'kind', retryable: false, summary: 'The request to the hook is not signed with its secret, is too old, or lacks a header.' },
  'approval-not-assigned': { status: 403, family: 'code', retryable: false, summary: 'The approval is assigned to somebody else: to the owner of the run, to staff, or to holders of a scope.' },
  'console-read-only': { status: 403, family: 'kind', retryable: false, summary: 'The request would change something, but console.readOnly allows sessions of the console only to read.' },
  'cors-denied': { status: 403, family: 'kind', retryable: false, summary: 'The origin of the calling page is not listed in server.cors.allowOrigins.' },
  'csrf-denied': { status: 403, family: 'kind', retryable: false, summary: 'A page on another site sent this request without a bearer token: authenticated by a cookie or, with auth.kind none, not at all.' },
  'mcp-headers-denied': { status: 403, family: 'kind', retryable: false, summary: 'The headersRef of the MCP server is not in mcp.allowHeadersRefs.' },
  'mcp-host-denied': { status: 403, family: 'kind', retryable: false, summary: 'The host of the MCP server is not in mcp.allowHosts.' },
  'scope-denied': { status: 403, family: 'kind', retryable: false, summary: 'The token lacks a scope that this route requires.' },
  'scope-escalation-denied': { status: 403, family: 'kind', retryable: false, summary: 'A token can mint tokens only within its own scopes.' },
  'webhook-url-denied': { status: 403, family: 'kind', retryable: false, summary: 'The URL of the webhook is not a public https: address, and its host is not listed in webhooks.allowHosts.' },
  'agent-not-found': { status: 404, family: 'code', retryable: false, summary: 'No agent is registered under this id.' },
  'approval-not-found': { status: 404, family: 'code', retryable: false, summary: 'No such approval, or the caller may not see it.' },
  'dead-letter-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No such consolidator dead letter.' },
  'delivery-not-found': { status: 404, family: 'kind', retryable: false, summary: 'The webhook has no such delivery.' },
  'file-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No such file, or the caller may not see it.' },
  'hook-delivery-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No such delivery of this hook; it may have been removed.' },
  'hook-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No hook has this id.' },
  'mcp-server-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No MCP server has this id.' },
  'mcp-tool-not-found': { status: 404, family: 'kind', retryable: false, summary: 'The MCP server has no tool with this name.' },
  'memory-block-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No such memory block, or the caller may not see it.' },
  'memory-conflict-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No such memory conflict, or the caller may not see it.' },
  'memory-fact-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No such memory fact, or the caller may not see it.' },
  'node-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No server of the cluster has this id.' },
  'route-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No route has this path.' },
  'run-not-found': { status: 404, family: 'code', retryable: false, summary: 'No such run, or the caller may not see it.' },
  'session-not-found': { status: 404, family: 'code', retryable: false, summary: 'No such session, or the caller may not see it.' },
  'skill-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No skill has this name.' },
  'thread-not-found': { status: 404, family: 'code', retryable: false, summary: 'No such workflow thread, or the caller may not see it.' },
  'token-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No such token.' },
  'tool-call-not-found': { status: 404, family: 'kind', retryable: false, summary: 'The run has made no call of a client tool with this id.' },
  'trigger-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No trigger has this id.' },
  'webhook-not-found': { status: 404, family: 'kind', retryable: false, summary: 'No such webhook, or the caller may not see it.' },
  'workflow-not-found': { status: 404, family: 'code', retryable: false, summary: 'No workflow is registered under this id.' },
  'method-not-allowed': { status: 405, family: 'kind', retryable: false, summary: 'The path exists, but not with this method; the Allow header lists the methods.' },
  'request-timeout': { status: 408, family: 'kind', retryable: true, summary: 'The request was not received in time.' },
  'agent-busy': { status: 409, family: 'code', retryable: true, summary: 'The agent, workflow, session or thread has no free slot for another run.' },
  'approval-not-editable': { status: 409, family: 'code', retryable: false, summary: 'The approval takes no other arguments than those that were asked for.' },
  'approval-resolved': { status: 409, family: 'code', retryable: false, summary: 'The approval was already decided differently.' },
  'delivery-in-progress': { status: 409, family: 'kind', retryable: false, summary: 'An attempt of the delivery is in progress.' },
  'file-in-use': { status: 409, family: 'kind', retryable: false, summary: 'A session or a run holds the file; the server deletes the file with the last one that does.' },
  'file-quota-exceeded': { status: 409, family: 'kind', retryable: false, summary: 'The files of the owner would together exceed their limit.' },
  'hook-not-testable': { status: 409, family: 'kind', retryable: false, summary: 'Only the sender can sign requests to this hook, or its secret cannot be resolved.' },
  'idempotency-conflict': { status: 409, family: 'kind', retryable: false, summary: 'The Idempotency-Key was already used for a different request.' },
  'idempotency-in-flight': { status: 409, family: 'kind', retryable: true, summary: 'The first request with this Idempotency-Key is still executing.' },
  'mcp-server-exists': { status: 409, family: 'kind', retryable: false, summary: 'An MCP server already exists under this id.' },
  'memory-block-changed': { status: 409, family: 'kind', retryable: false, summary: 'The memory block was changed, created or deleted since the time that `ifUpdatedAt` names.' },
  'memory-conflict-resolved': { status: 409, family: 'kind', retryable: false, summary: 'The memory conflict was already resolved differently.' },
  'resume-without-suspension': { status: 409, family: 'code', retryable: false, summary: 'The workflow thread is not suspended.' },
  'run-active': { status: 409, family: 'code', retryable: true, summary: 'The run is queued or running; only a run that has ended or is suspended can be repeated.' },
  'run-not-active': { status: 409, family: 'code', retryable: false, summary: 'The run has already ended.' },
  'run-not-queued': { status: 409, family: 'code', retryable: false, summary: 'The run has already started, or its message was taken by another run.' },
  'run-not-suspended': { status: 409, family: 'code', retryable: false, summary: 'The run is not suspended.' },
  'session-exists': { status: 409, family: 'code', retryable: false, summary: 'The session id is not available.' },
  'skill-exists': { status: 409, family: 'kind', retryable: false, summary: 'A skill with this name is already installed.' },
  'token-not-active': { status: 409, family: 'kind', retryable: false, summary: 'The token is revoked, expired or already replaced.' },
  'tool-call-ended': { status: 409, family: 'kind', retryable: false, summary: 'The tool call has already ended with another result, or after its time limit.' },
  'trigger-exists': { status: 409, family: 'kind', retryable: false, summary: 'A trigger with this id already exists.' },
  'webhook-configured': { status: 409, family: 'kind', retryable: false, summary: 'The webhook is defined in the configuration and cannot be changed over the API.' },
  'webhook-disabled': { status: 409, family: 'kind', retryable: false, summary: 'The webhook is disabled, so the server sends nothing to it.' },
  'webhook-exists': { status: 409, family: 'kind', retryable: false, summary: 'A webhook already exists under this id.' },
  'webhook-limit': { status: 409, family: 'kind', retryable: false, summary: 'The server already has the maximum number of webhooks, or the subject its own maximum.' },
  'webhook-pepper-missing': { status: 409, family: 'kind', retryable: false, summary: 'The server has no pepper, so it cannot store the secret of a webhook.' },
  'workflow-divergence': { status: 409, family: 'code', retryable: false, summary: 'The workflow code no longer matches the recorded steps.' },
  'body-too-large': { status: 413, family: 'kind', retryable: false, summary: 'The request body exceeds the limit.' },
  'unsupported-media-type': { status: 415, family: 'kind', retryable: false, summary: 'The body is not application/json, has a Content-Encoding, or is a file of another type than its Content-Type.' },
  'range-not-satisfiable': { status: 416, family: 'kind', retryable: false, summary: 'The file is shorter than the requested range.' },
  'host-denied': { status: 421, family: 'kind', retryable: false, summary: 'The Host header names a host that this server does not serve.' },
  'auth-locked-out': { status: 429, family: 'kind', retryable: true, summary: 'Too many failed authentication attempts from this address.' },
  'quota-exceeded': { status: 429, family: 'kind', retryable: true, openai: 'insufficient_quota', summary: 'The caller has used up a limit of runs.perSubject: its runs at once, or the runs or costs of a day.' },
  'rate-limit-exceeded': { status: 429, family: 'kind', retryable: true, openai: 'rate_limit_exceeded', summary: 'Too many requests from this address.' },
  'ticket-limit-exceeded': { status: 429, family: 'kind', retryable: true, summary: 'This token has too many unused WebSocket tickets.' },
  'headers-too-large': { status: 431, family: 'kind', retryable: false, summary: 'The header block or the number of header fields exceeds the limit.' },
  'attempts-exhausted': { status: 500, family: 'code', retryable: false, summary: 'The run used all of its attempts without finishing.' },
  'budget-exhausted': { status: 500, family: 'code', retryable: false, summary: 'The run exhausted its budget.' },
  'internal-error': { status: 500, family: 'kind', retryable: false, summary: 'The server failed; its log has the details under the request id.' },
  'invalid-output': { status: 500, family: 'code', retryable: false, summary: 'The result of the run does not match the output schema registered for the agent or workflow.' },
  'run-failed': { status: 500, family: 'code', retryable: false, summary: 'The agent threw an error that has no identifier.' },
  'run-interrupted': { status: 500, family: 'code', retryable: false, summary: 'The server stopped while the run was executing; its external effects may have happened.' },
  'step-failed': { status: 500, family: 'code', retryable: false, summary: 'A workflow step failed and has no retries left.' },
  unknown: { status: 500, family: 'kind', retryable: false, summary: 'An error from outside the server that has no identifier.' },
  'not-implemented': { status: 501, family: 'kind', retryable: false, summary: 'The operation is part of the interface but is not implemented in this release.' },
  'timer-driver-store-unsupported': { status: 501, family: 'code', retryable: false, summary: 'The storage adapter cannot hold durable timers.' },
  SQLITE_BUSY: { status: 503, family: 'code', alias: 'sqlite-busy', retryable: true, summary: 'Another process holds a lock on the database. The error also carries the kind sqlite-busy.' },
  'audit-unavailable': { status: 503, family: 'kind', retryable: true, summary: 'The audit entry could not be written, so the request had no effect.' },
  'auth-keys-unavailable': { status: 503, family: 'kind', retryable: true, summary: 'The keys of the issuer of the JWT cannot be fetched at the moment.' },
  'hook-unavailable': { status: 503, family: 'kind', retryable: true, summary: 'The secret or the keys of the hook cannot be read at the moment.' },
  'mcp-server-unavailable': { status: 503, family: 'kind', retryable: true, summary: 'The MCP server is unreachable or violates the protocol.' },
  overloaded: { status: 503, family: 'kind', retryable: true, summary: 'The limit on open streams or connections is reached.' },
  'queue-full': { status: 503, family: 'code', retryable: true, summary: 'The queue of waiting runs is full.' },
  'server-draining': { status: 503, family: 'kind', retryable: true, summary: 'The server is shutting down and accepts no new runs.' },
  'sign-in-unavailable': { status: 503, family: 'kind', retryable: true, summary: 'The identity provider of the console cannot be reached at the moment.' },
  'storage-failed': { status: 503, family: 'kind', retryable: true, summary: 'The storage failed and the outcome is unknown; the server stops accepting requests.' },
  'storage-full': { status: 503, family: 'kind', retryable: true, summary: 'The disk is full: reads work, writes fail.' },
  'storage-unavailable': { status: 503, family: 'kind', retryable: true, summary: 'The storage cannot be reached at the moment; nothing was written.' },
} as const satisfies Record<string, ErrorSpec>

export type ErrorCode = keyof typeof ERRORS

/** Why the server refused to start. Printed on stderr with exit code 2, or 3 for `database-unavailable`; never sent over HTTP. */
export const START_ERRORS = {
  'address-in-use': 'Another process is already listening on the address.',
  'bind-failed': 'The server cannot listen on the address.',
  'clock-skew': 'The clock of the machine differs too much from the clock of the database server.',
  'config-invalid': 'A configuration field is unknown, malformed or contradicts another field.',
  'copy-refused': 'A database file cannot be copied to PostgreSQL.',
  'database-unavailable':
    'The PostgreSQL database cannot be reached, is not the current primary, or still holds the lock of a server that was killed: start again later.',
  'descriptor-limit': 'The limit on open files of the process is too low.',
  'encryption-passphrase-missing': 'Encryption is enabled but its passphraseRef is not set.',
  'encryption-passphrase-wrong': 'The encrypted file cannot be read with this passphrase.',
  'encryption-peer-missing': 'Encryption is enabled but its optional package is not installed.',
  'hook-failed': 'The beforeStart or onReady hook threw an error.',
  'migration-failed': 'A storage migration failed and was rolled back.',
  'node-mismatch': 'Another server of the cluster has another token pepper, or cannot read the new schema.',
  'node-too-old': 'This Node.js version cannot load the storage driver.',
  'oidc-peer-missing': 'console.oidc.issuer is set but the package openid-client is not installed.',
  'pepper-missing': 'Token authentication needs a pepper, but auth.pepperRef is not set.',
  'pepper-weak': 'The pepper is shorter than 32 bytes.',
  'postgres-peer-missing': 'storage.kind is postgres but the package @perdure/postgres is not installed.',
  's3-peer-missing': 'storage.files.s3.bucket is set but the package aws4fetch is not installed.',
  'secret-unresolvable': 'A secret reference cannot be resolved.',
  'storage-corrupt': 'The database file is damaged or is not a database.',
  'storage-incomplete': 'The PostgreSQL schema holds an unfinished copy of a database file.',
  'storage-locked': 'Another process holds the database file, or the PostgreSQL schema.',
  'storage-moved': 'The content of the database file was moved to PostgreSQL.',
  'storage-newer-schema': 'The database file was written by a newer release.',
  'storage-replaced': 'The database file was removed or replaced while a server was running.',
  'storage-shared': 'A file of the database has a second name: a hard link or a mount.',
  'tracing-peer-missing': 'telemetry.traces is on but its optional package is not installed.',
} as const satisfies Record<string, string>

export type StartErrorKind = keyof typeof START_ERRORS

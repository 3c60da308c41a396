/** How a tool call failed: data in the run's events and in the answer of `ctx.tool`, never an HTTP refusal. */
export const TOOL_FAILURES = {
  aborted: 'The caller aborted the call.',
  approval_denied: 'A human denied the call.',
  capability_blocked: 'The agent lacks the capability the tool demands.',
  dataflow_policy_blocked: 'A data-flow policy forbids the arguments to reach the tool.',
  execution_failed: 'The tool threw; every untyped exception becomes this.',
  inbound_sanitization_blocked: 'What the tool answered was refused by the inbound sanitizer.',
  invalid_input: 'The arguments do not match the schema of the tool.',
  invalid_output: 'What the tool answered does not match its schema.',
  rate_limited: 'The tool refused for its rate limit.',
  sandbox_violation: 'The tool tried to leave its sandbox.',
  timeout: 'The tool did not answer in time.',
  unknown_tool: 'No tool has this name.',
} as const satisfies Record<string, string>

export type ToolFailureKind = keyof typeof TOOL_FAILURES

/** How a model provider failed. */
export const PROVIDER_FAILURES = {
  capacity: 'The provider is overloaded.',
  'content-filter': 'The provider refused the content.',
  'context-length': 'The request is longer than the model takes.',
  'invalid-request': 'The provider does not accept the request as it is.',
  'rate-limit': 'Too many requests to the provider.',
  transient: 'The provider could not be reached or failed for a moment.',
  unauthorized: 'The provider does not accept the credentials.',
  unknown: 'The provider failed in a way that no rule names.',
} as const satisfies Record<string, string>

export type ProviderFailureKind = keyof typeof PROVIDER_FAILURES

export interface ProviderStatusRule {
  /** Statuses from the first to the last of the pair, both included; 0 is a timeout or a network failure. */
  readonly statuses: readonly (readonly [number, number])[]
  readonly kind: ProviderFailureKind
  /** The kind instead, when the body says that the context is too long. */
  readonly kindOfLongContext?: ProviderFailureKind
  readonly retryable: boolean
  readonly honoursRetryAfter?: true
}

/** What the HTTP status of a provider means; the first rule that matches speaks. */
// biome-ignore format: a table is read by its rows
export const PROVIDER_STATUS_RULES: readonly ProviderStatusRule[] = [
  { statuses: [[0, 0]], kind: 'transient', retryable: true },
  { statuses: [[429, 429]], kind: 'rate-limit', retryable: true, honoursRetryAfter: true },
  {
    statuses: [
      [401, 401],
      [403, 403],
    ],
    kind: 'unauthorized',
    retryable: false,
  },
  {
    statuses: [
      [400, 400],
      [404, 404],
      [422, 422],
    ],
    kind: 'invalid-request',
    kindOfLongContext: 'context-length',
    retryable: false,
  },
  {
    statuses: [
      [503, 503],
      [529, 529],
    ],
    kind: 'capacity',
    retryable: true,
  },
  { statuses: [[500, 599]], kind: 'transient', retryable: true },
  { statuses: [[1, 999]], kind: 'unknown', retryable: false },
]

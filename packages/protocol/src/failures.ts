/** How a tool call failed: data in the run's events and in the result of `ctx.tool`, never an HTTP error. */
export const TOOL_FAILURES = {
  aborted: 'The caller aborted the call.',
  approval_denied: 'A human denied the call.',
  capability_blocked: 'The agent lacks a capability that the tool requires.',
  dataflow_policy_blocked: 'A data-flow policy does not allow the arguments to reach the tool.',
  execution_failed: 'The tool threw an exception that has no kind of its own.',
  inbound_sanitization_blocked: 'The inbound sanitizer rejected the result of the tool.',
  invalid_input: 'The arguments do not match the schema of the tool.',
  invalid_output: 'The result of the tool does not match its schema.',
  rate_limited: 'The tool refused the call because of its rate limit.',
  sandbox_violation: 'The tool tried to leave its sandbox.',
  timeout: 'The tool did not answer in time.',
  unknown_tool: 'No tool has this name.',
} as const satisfies Record<string, string>

export type ToolFailureKind = keyof typeof TOOL_FAILURES

/** How a model provider failed. */
export const PROVIDER_FAILURES = {
  capacity: 'The provider is overloaded.',
  'content-filter': 'The provider refused the content.',
  'context-length': 'The request is longer than the context of the model.',
  'invalid-request': 'The provider rejected the request as invalid.',
  'rate-limit': 'Too many requests to the provider.',
  transient: 'The provider was unreachable or failed temporarily.',
  unauthorized: 'The provider rejected the credentials.',
  unknown: 'The provider failed in a way that matches no rule.',
} as const satisfies Record<string, string>

export type ProviderFailureKind = keyof typeof PROVIDER_FAILURES

export interface ProviderStatusRule {
  /** Inclusive ranges of statuses; 0 stands for a timeout or a network failure. */
  readonly statuses: readonly (readonly [number, number])[]
  readonly kind: ProviderFailureKind
  /** Replaces `kind` when the body reports that the context is too long. */
  readonly kindOfLongContext?: ProviderFailureKind
  readonly retryable: boolean
  readonly honoursRetryAfter?: true
}

/** Classifies the HTTP status of a provider; the first matching rule applies. */
// biome-ignore format: one line per table row
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

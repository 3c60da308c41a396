export interface MetricSpec {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  /** Every label has a bounded set of values: registered ids, route patterns, enumerations. */
  readonly labels: readonly string[]
  /** Upper bounds of a histogram's buckets, in its unit. */
  readonly buckets?: readonly number[]
}

const FAST = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10] as const
const MODEL_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92] as const
const TOKENS = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
] as const
const GEN_AI = [
  'gen_ai_operation_name',
  'gen_ai_provider_name',
  'gen_ai_request_model',
  'gen_ai_response_model',
] as const
const LONG = [0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 1_800, 7_200, 86_400] as const

/**
 * Every metric the server exposes. Those that begin with `gen_ai_` follow the OpenTelemetry conventions, in which they are
 * `gen_ai.client.operation.duration` and `gen_ai.client.token.usage`; they are exposed once a model was called.
 */
// biome-ignore format: one line per table row
export const METRICS = {
  gen_ai_client_operation_duration_seconds: { type: 'histogram', labels: [...GEN_AI, 'error_type'], buckets: MODEL_SECONDS, help: 'Time of a call of a model; error_type is empty for a call that succeeded.' },
  gen_ai_client_token_usage: { type: 'histogram', labels: [...GEN_AI, 'gen_ai_token_type'], buckets: TOKENS, help: 'Tokens of a call of a model, by type: input or output.' },
  svc_agent_runs_total: { type: 'counter', labels: ['agent', 'status'], help: 'Agent runs that ended, by status.' },
  svc_auth_failures_total: { type: 'counter', labels: ['code'], help: 'Authentication failures, by error code.' },
  svc_build_info: { type: 'gauge', labels: ['version', 'node'], help: 'Always 1; the labels identify the release.' },
  svc_cluster_oldest_queued_seconds: { type: 'gauge', labels: [], help: 'How long the oldest queued run of all servers has waited; the same on every server, so use max, not sum.' },
  svc_cluster_queued_runs: { type: 'gauge', labels: [], help: 'Runs that wait for a slot on any server; the same on every server, so use max, not sum.' },
  svc_cluster_runs_without_code: { type: 'gauge', labels: [], help: 'Queued runs that no server of the cluster can execute; the same on every server, so use max, not sum.' },
  svc_consolidator_budget_remaining: { type: 'gauge', labels: ['unit'], help: 'Remaining consolidator budget for the current day.' },
  svc_consolidator_dead_letters: { type: 'gauge', labels: [], help: 'Consolidator jobs that failed for good and are dead letters.' },
  svc_consolidator_queue_depth: { type: 'gauge', labels: ['phase'], help: 'Queued consolidator jobs.' },
  svc_duty: { type: 'gauge', labels: ['name'], help: 'Whether this server does this background work for all servers of its cluster: 1 or 0.' },
  svc_event_loop_delay_seconds: { type: 'gauge', labels: [], help: 'Event loop delay: 99th percentile over the last interval.' },
  svc_hook_deliveries_total: { type: 'counter', labels: ['hook', 'status'], help: 'Requests to hooks: accepted, ignored and dead deliveries, repeated ones, and refused or unavailable requests.' },
  svc_http_request_duration_seconds: { type: 'histogram', labels: ['method', 'route'], buckets: FAST, help: 'Time from the request to the response, or to the response head for a stream.' },
  svc_http_requests_total: { type: 'counter', labels: ['method', 'route', 'status'], help: 'HTTP requests that were answered.' },
  svc_idempotency_hit_ratio: { type: 'gauge', labels: [], help: 'Share of idempotency lookups answered by the read cache.' },
  svc_idempotency_requests_total: { type: 'counter', labels: ['outcome'], help: 'Requests to idempotent routes, by outcome.' },
  svc_inflight_runs: { type: 'gauge', labels: ['kind'], help: 'Runs that are executing.' },
  svc_log_lines_dropped_total: { type: 'counter', labels: [], help: 'Log lines dropped because the log could not be written in time.' },
  svc_log_tail_lag_seconds: { type: 'gauge', labels: [], help: 'Time since this process last read the shared event log to its end; only with PostgreSQL.' },
  svc_node_lease_seconds: { type: 'gauge', labels: [], help: 'Time until other servers take over the runs of this server, unless it renews its lease.' },
  svc_nodes: { type: 'gauge', labels: ['status'], help: 'Servers of the cluster that are ready or draining; the same on every server, so use max, not sum.' },
  svc_oauth_token_freshness_seconds: { type: 'gauge', labels: ['server'], help: 'Time until the token of an MCP server expires, as configured; negative after expiry.' },
  svc_process_resident_memory_bytes: { type: 'gauge', labels: [], help: 'Resident memory of the process.' },
  svc_provider_cost_usd_total: { type: 'counter', labels: ['provider', 'model'], help: 'Cost of provider calls in US dollars.' },
  svc_provider_tokens_total: { type: 'counter', labels: ['provider', 'model', 'direction'], help: 'Tokens used by provider calls.' },
  svc_queued_runs: { type: 'gauge', labels: [], help: 'Runs that wait for a slot.' },
  svc_rate_limited_total: { type: 'counter', labels: [], help: 'Requests refused by the rate limit.' },
  svc_redaction_drops_total: { type: 'counter', labels: ['rule'], help: 'Matches removed by the delivery sanitizer.' },
  svc_replay_buffer_events: { type: 'gauge', labels: [], help: 'Events in the replay buffer.' },
  svc_run_duration_seconds: { type: 'histogram', labels: ['kind'], buckets: LONG, help: 'Time from the start to the end of a run.' },
  svc_run_scores_total: { type: 'counter', labels: ['target', 'scorer', 'outcome'], help: 'Scores that the scorers of an agent or workflow gave to its runs: pass, fail or error.' },
  svc_runs_taken_over_total: { type: 'counter', labels: ['outcome'], help: 'Runs of departed servers that this server has recovered: queued again, or interrupted.' },
  svc_storage_commit_duration_seconds: { type: 'histogram', labels: [], buckets: FAST, help: 'Time from submitting a commit until it is durable.' },
  svc_storage_commits_unknown_total: { type: 'counter', labels: [], help: 'Commits to PostgreSQL whose answer was lost, so that the server had to look up their outcome.' },
  svc_storage_connections: { type: 'gauge', labels: ['state'], help: 'Busy and idle read connections to PostgreSQL, and reads that are waiting for a connection.' },
  svc_storage_connections_refused_total: { type: 'counter', labels: [], help: 'Connections to a PostgreSQL server that was behind one that this server had used before, such as a replaced primary.' },
  svc_storage_group_commits: { type: 'gauge', labels: [], help: 'Mean number of commits per transaction on PostgreSQL since the server started.' },
  svc_storage_retries_total: { type: 'counter', labels: ['code'], help: 'Transactions on PostgreSQL that were executed again, by SQLSTATE; connection for a lost connection.' },
  svc_storage_wal_size_bytes: { type: 'gauge', labels: [], help: 'Size of the write-ahead log.' },
  svc_subscriptions: { type: 'gauge', labels: ['transport'], help: 'Open subscriptions.' },
  svc_tool_calls_total: { type: 'counter', labels: ['tool', 'outcome'], help: 'Tool calls that ended.' },
  svc_trigger_fires_total: { type: 'counter', labels: ['kind', 'status'], help: 'Trigger fires, counted each time a fire reaches a status.' },
  svc_uptime_seconds: { type: 'gauge', labels: [], help: 'Time since the server started.' },
  svc_webhook_dead_letters: { type: 'gauge', labels: [], help: 'Stored webhook deliveries with the status dead: the server gave them up.' },
  svc_webhook_deliveries_total: { type: 'counter', labels: ['endpoint', 'outcome'], help: 'Attempts to deliver an event to a webhook, by outcome; all webhooks added over the API share the endpoint api.' },
  svc_webhook_pending_deliveries: { type: 'gauge', labels: [], help: 'Webhook deliveries that the server has yet to send or retry.' },
  svc_workflow_runs_total: { type: 'counter', labels: ['workflow', 'status'], help: 'Workflow runs that ended.' },
  svc_ws_connections: { type: 'gauge', labels: [], help: 'Open WebSocket connections.' },
} as const satisfies Record<string, MetricSpec>

export type MetricName = keyof typeof METRICS

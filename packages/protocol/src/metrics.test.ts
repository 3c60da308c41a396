import { describe, expect, it } from 'vitest'
import { METRICS, type MetricSpec } from './metrics.ts'

const rows: readonly (readonly [string, MetricSpec])[] = Object.entries(METRICS)

describe('METRICS', () => {
  it.each(rows)('names %s by the rules of the exposition format', (name, { type, labels, help }) => {
    expect(name).toMatch(/^(?:svc|gen_ai)_[a-z]+(_[a-z]+)*$/)
    expect(name.endsWith('_total')).toBe(type === 'counter')
    // The conventions of OpenTelemetry name no unit for a count of tokens.
    if (type === 'histogram') expect(name).toMatch(/_(seconds|bytes|token_usage)$/)
    for (const label of labels) expect(label).toMatch(name.startsWith('svc_') ? /^[a-z]+$/ : /^[a-z]+(_[a-z]+)*$/)
    expect(help).toMatch(/^[A-Z].*\.$/)
  })

  it.each(rows)('gives %s ascending buckets if it is a histogram', (_, { type, buckets = [] }) => {
    expect(buckets.length > 0).toBe(type === 'histogram')
    expect(buckets).toEqual(buckets.toSorted((a, b) => a - b))
  })

  it('is sorted by name', () => {
    const names = rows.map(([name]) => name)
    expect(names).toEqual(names.toSorted())
  })

  it('has the labels of the contract', () => {
    const labelled = rows.filter(([, { labels }]) => labels.length > 0)
    expect(labelled.map(([name, { labels }]) => `${name}{${labels.join(',')}}`)).toEqual([
      'gen_ai_client_operation_duration_seconds{gen_ai_operation_name,gen_ai_provider_name,gen_ai_request_model,gen_ai_response_model,error_type}',
      'gen_ai_client_token_usage{gen_ai_operation_name,gen_ai_provider_name,gen_ai_request_model,gen_ai_response_model,gen_ai_token_type}',
      'svc_agent_runs_total{agent,status}',
      'svc_auth_failures_total{code}',
      'svc_build_info{version,node}',
      'svc_consolidator_budget_remaining{unit}',
      'svc_consolidator_queue_depth{phase}',
      'svc_duty{name}',
      'svc_hook_deliveries_total{hook,status}',
      'svc_http_request_duration_seconds{method,route}',
      'svc_http_requests_total{method,route,status}',
      'svc_idempotency_requests_total{outcome}',
      'svc_inflight_runs{kind}',
      'svc_nodes{status}',
      'svc_oauth_token_freshness_seconds{server}',
      'svc_provider_cost_usd_total{provider,model}',
      'svc_provider_tokens_total{provider,model,direction}',
      'svc_redaction_drops_total{rule}',
      'svc_run_duration_seconds{kind}',
      'svc_run_scores_total{target,scorer,outcome}',
      'svc_runs_taken_over_total{outcome}',
      'svc_storage_connections{state}',
      'svc_storage_retries_total{code}',
      'svc_subscriptions{transport}',
      'svc_tool_calls_total{tool,outcome}',
      'svc_trigger_fires_total{kind,status}',
      'svc_webhook_deliveries_total{endpoint,outcome}',
      'svc_workflow_runs_total{workflow,status}',
    ])
  })
})

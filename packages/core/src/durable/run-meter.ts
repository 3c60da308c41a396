import type { Meter, RunKind, RunRecord } from '@perdure/ports'
import type { ToolFailureKind } from '@perdure/protocol'
import type { UsageReport } from './usage-report.ts'

/** Updates the metrics of runs and of the usage their code reports. */
export interface RunMeter {
  ended(run: RunRecord): void
  toolCalled(name: string, outcome: 'ok' | ToolFailureKind): void
  used(report: UsageReport): void
}

/** Whether the code of a run is registered: ids of unregistered targets do not become label values. */
export type IsRegistered = (kind: RunKind, id: string) => boolean

const MAX_TOOLS = 200
const MAX_PROVIDERS = 20
const MAX_MODELS = 100

export function createRunMeter(meter: Meter, isRegistered: IsRegistered): RunMeter {
  const toolLabel = createOpenLabel(MAX_TOOLS)
  const providerLabel = createOpenLabel(MAX_PROVIDERS)
  const modelLabel = createOpenLabel(MAX_MODELS)

  return {
    ended({ kind, targetId, status, startedAt, completedAt }) {
      const id = isRegistered(kind, targetId) ? targetId : 'unregistered'
      if (kind === 'agent') meter.count('svc_agent_runs_total', { agent: id, status })
      else meter.count('svc_workflow_runs_total', { workflow: id, status })
      if (startedAt === undefined || completedAt === undefined) return
      meter.observe('svc_run_duration_seconds', { kind }, (completedAt - startedAt) / 1_000)
    },
    toolCalled: (name, outcome) => meter.count('svc_tool_calls_total', { tool: toolLabel(name), outcome }),
    used({ provider, model, inputTokens = 0, outputTokens = 0, costUsd = 0 }) {
      const labels = { provider: providerLabel(provider), model: modelLabel(model) }
      meter.count('svc_provider_tokens_total', { ...labels, direction: 'input' }, inputTokens)
      meter.count('svc_provider_tokens_total', { ...labels, direction: 'output' }, outputTokens)
      meter.count('svc_provider_cost_usd_total', labels, costUsd)
    },
  }
}

const MAX_LENGTH = 128

/**
 * Bounds a label whose values the code of runs chooses: after the first `limit` values, every new value becomes
 * `other`.
 */
function createOpenLabel(limit: number): (value: string) => string {
  const known = new Set<string>()
  return (value) => {
    const label = String(value).slice(0, MAX_LENGTH)
    if (known.has(label)) return label
    if (known.size >= limit) return 'other'
    known.add(label)
    return label
  }
}

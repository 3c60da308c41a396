import type { Meter, RunKind, RunRecord } from '@perdure/ports'
import type { ToolFailureKind } from '@perdure/protocol'
import { toRunError } from '../../runs/run-error.ts'
import { genAiProvider } from '../../tracing/model-span.ts'
import type { ModelAnswer, ModelCall } from '../model-call.ts'
import type { UsageReport } from './usage-report.ts'

/** Updates the metrics of runs and of the usage their code reports. */
export interface RunMeter {
  ended(run: RunRecord): void
  toolCalled(name: string, outcome: 'ok' | ToolFailureKind): void
  used(report: UsageReport): void
  /** @param call `thrown` is set if the call failed */
  modelCalled(model: ModelCall, call: MeasuredCall): void
}

export interface MeasuredCall {
  readonly seconds: number
  readonly answer: ModelAnswer
  readonly thrown?: unknown
}

/** Whether the code of a run is registered: ids of unregistered targets do not become label values. */
export type IsRegistered = (kind: RunKind, id: string) => boolean

const MAX_TOOLS = 200
const MAX_PROVIDERS = 20
const MAX_MODELS = 100
const MAX_ERRORS = 50

export function createRunMeter(meter: Meter, isRegistered: IsRegistered): RunMeter {
  const toolLabel = createOpenLabel(MAX_TOOLS)
  const providerLabel = createOpenLabel(MAX_PROVIDERS)
  const modelLabel = createOpenLabel(MAX_MODELS)
  const answererLabel = createOpenLabel(MAX_MODELS)
  const errorLabel = createOpenLabel(MAX_ERRORS)

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
    modelCalled({ provider = 'unknown', model = 'unknown', operation = 'chat' }, { seconds, answer, thrown }) {
      const { usage } = answer
      const labels = {
        gen_ai_operation_name: operation,
        gen_ai_provider_name: providerLabel(genAiProvider(provider)),
        gen_ai_request_model: modelLabel(model),
        gen_ai_response_model: answererLabel(answer.model ?? model),
      }
      const error_type = thrown === undefined ? '' : errorLabel(toRunError(thrown).code)
      meter.observe('gen_ai_client_operation_duration_seconds', { ...labels, error_type }, seconds)
      if (usage === undefined) return
      for (const [gen_ai_token_type, tokens] of [
        ['input', usage.inputTokens],
        ['output', usage.outputTokens],
      ] as const) {
        meter.observe('gen_ai_client_token_usage', { ...labels, gen_ai_token_type }, tokens)
      }
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

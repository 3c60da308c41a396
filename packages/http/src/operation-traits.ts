import { type Operation, protocolOf, type ScopeRule } from '@perdure/protocol'
import type { HttpConfig } from './http-app-deps.ts'

/** The scope rule under this configuration; `null` means that no token is needed. */
export function scopeRuleOf({ scope }: Operation, { metricsRequireAuth }: HttpConfig): ScopeRule {
  const isConditional = typeof scope === 'object' && scope !== null && 'whenConfig' in scope
  return isConditional && !metricsRequireAuth ? null : scope
}

/** Whether the operation starts a run and can answer with the run's event stream instead of 202. */
export const isStreamingStart = ({ responses }: Operation): boolean =>
  responses[200]?.stream === 'event-stream' && responses[202]?.location === true

/** Whether the operation can start a run and answers with its stream in the form of another protocol. */
export const isProjectedStart = (operation: Operation): boolean =>
  operation.idempotent && operation.responses[200]?.stream === 'event-stream' && protocolOf(operation) !== undefined

/** Whether the operation starts a run, and so commits the idempotency key together with the run. */
export const startsRun = (operation: Operation): boolean =>
  isStreamingStart(operation) || honoursPrefer(operation) || isProjectedStart(operation)

/** Whether the operation honours Prefer: it answers with the outcome of the run, or with 202 while the run has none. */
export const honoursPrefer = ({ responses }: Operation): boolean =>
  responses[200]?.schema !== undefined && responses[202]?.location === true

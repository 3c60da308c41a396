import type { Operation, ScopeRule } from '@perdure/protocol'
import type { HttpConfig } from './http-app-deps.ts'

/** The rule that holds under this configuration; `null` lets anyone in. */
export function ruleOf({ scope }: Operation, { metricsRequireAuth }: HttpConfig): ScopeRule {
  const isConditional = typeof scope === 'object' && scope !== null && 'whenConfig' in scope
  return isConditional && !metricsRequireAuth ? null : scope
}

/** Whether it starts something and shows its events instead of the 202 when a client accepts a stream. */
export const isStreamingStart = ({ responses }: Operation): boolean =>
  responses[200]?.stream === 'event-stream' && responses[202]?.location === true

/** Whether it starts a run. That commits the key together with the run, and so meets whatever is stored under it. */
export const startsRun = (operation: Operation): boolean => isStreamingStart(operation) || honoursPrefer(operation)

/** Whether it answers an outcome or, if the client prefers, 202 before there is one. */
export const honoursPrefer = ({ responses }: Operation): boolean =>
  responses[200]?.schema !== undefined && responses[202]?.location === true

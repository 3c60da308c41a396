import type { RunTarget, RunTargets } from '@perdure/core'
import { perdureError, type RunRecord } from '@perdure/ports'
import type { ProtocolName } from '@perdure/protocol'

/** Whether clients of the protocol may use the agent or workflow. */
export const isOffered = ({ protocols = {} }: Pick<RunTarget, 'protocols'>, protocol: ProtocolName) =>
  protocols !== false && protocols[protocol] !== false

/** @throws PerdureError `agent-not-found`, also for an agent that is hidden from clients of the protocol */
export const offeredAgent = (targets: RunTargets, agentId: string, protocol: ProtocolName): RunTarget =>
  offeredTarget(targets, { kind: 'agent', id: agentId }, protocol)

/** @throws PerdureError `agent-not-found` or `workflow-not-found`, also if it is hidden from clients of the protocol */
export function offeredTarget(
  targets: RunTargets,
  { kind, id }: Pick<RunRecord, 'kind' | 'id'>,
  protocol: ProtocolName,
): RunTarget {
  const target = targets.get(kind, id)
  if (isOffered(target, protocol)) return target
  throw kind === 'agent'
    ? perdureError('agent-not-found', { hint: 'list the registered agents with GET /agents' })
    : perdureError('workflow-not-found', { hint: 'list the registered workflows with GET /workflows' })
}

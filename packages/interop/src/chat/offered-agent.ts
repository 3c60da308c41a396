import type { InteropOptions, RunTarget, RunTargets } from '@perdure/core'
import { AppError, type RunRecord } from '@perdure/ports'

/** Whether clients of the protocol may use the agent or workflow. */
export const isOffered = (
  { interop = {} }: Pick<RunTarget, 'interop'>,
  protocol: Exclude<keyof InteropOptions, 'input'>,
) => interop !== false && interop[protocol] !== false

/** @throws AppError `agent-not-found`, also for an agent that is hidden from clients of the protocol */
export const offeredAgent = (
  targets: RunTargets,
  agentId: string,
  protocol: Exclude<keyof InteropOptions, 'input'>,
): RunTarget => offeredTarget(targets, { kind: 'agent', id: agentId }, protocol)

/** @throws AppError `agent-not-found` or `workflow-not-found`, also if it is hidden from clients of the protocol */
export function offeredTarget(
  targets: RunTargets,
  { kind, id }: Pick<RunRecord, 'kind' | 'id'>,
  protocol: Exclude<keyof InteropOptions, 'input'>,
): RunTarget {
  const target = targets.get(kind, id)
  if (isOffered(target, protocol)) return target
  throw kind === 'agent'
    ? new AppError('agent-not-found', { hint: 'list the registered agents with GET /agents' })
    : new AppError('workflow-not-found', { hint: 'list the registered workflows with GET /workflows' })
}

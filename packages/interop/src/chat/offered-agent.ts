import type { InteropOptions, RunTarget, RunTargets } from '@perdure/core'
import { AppError } from '@perdure/ports'

/** Whether clients of the protocol may use the agent or workflow. */
export const isOffered = (
  { interop = {} }: Pick<RunTarget, 'interop'>,
  protocol: Exclude<keyof InteropOptions, 'input'>,
) => interop !== false && interop[protocol] !== false

/** @throws AppError `agent-not-found`, also for an agent that is hidden from clients of the protocol */
export function offeredAgent(
  targets: RunTargets,
  agentId: string,
  protocol: Exclude<keyof InteropOptions, 'input'>,
): RunTarget {
  const target = targets.get('agent', agentId)
  if (isOffered(target, protocol)) return target
  throw new AppError('agent-not-found', { hint: 'list the registered agents with GET /agents' })
}

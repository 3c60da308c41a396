import type { RunStatus } from '@perdure/ports'

/** Where a run may go from each status. Everything else is refused by the compare-and-set that commits it. */
export const RUN_TRANSITIONS = {
  queued: ['running', 'failed', 'aborted'],
  running: ['queued', 'suspended', 'completed', 'failed', 'aborted'],
  suspended: ['queued', 'running', 'failed', 'aborted'],
  completed: [],
  failed: [],
  aborted: [],
} as const satisfies Record<RunStatus, readonly RunStatus[]>

const STATUSES = Object.keys(RUN_TRANSITIONS) as RunStatus[]

/** The statuses from which a run may become `to`. */
export function statusesBefore(to: RunStatus): readonly RunStatus[] {
  return STATUSES.filter((from) => (RUN_TRANSITIONS[from] as readonly RunStatus[]).includes(to))
}

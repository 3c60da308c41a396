import type { RunStatus } from '@perdure/ports'

/** The allowed transitions from each status. The compare-and-set of a commit refuses every other transition. */
export const RUN_TRANSITIONS = {
  queued: ['running', 'suspended', 'completed', 'failed', 'aborted'],
  running: ['queued', 'suspended', 'completed', 'failed', 'aborted'],
  suspended: ['queued', 'running', 'failed', 'aborted'],
  completed: [],
  failed: [],
  aborted: [],
} as const satisfies Record<RunStatus, readonly RunStatus[]>

const STATUSES = Object.keys(RUN_TRANSITIONS) as RunStatus[]

/** The statuses with a transition to `to`. */
export function statusesBefore(to: RunStatus): readonly RunStatus[] {
  return STATUSES.filter((from) => (RUN_TRANSITIONS[from] as readonly RunStatus[]).includes(to))
}

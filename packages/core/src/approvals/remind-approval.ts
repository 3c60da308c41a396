import {
  type ApprovalRecord,
  type ApprovalStore,
  type Clock,
  type CommitOutcome,
  EVERY_ROW,
  type NewEvent,
  type RunRecord,
  type RunStore,
  type UnitOfWork,
  type Write,
} from '@perdure/ports'
import { isOpenApproval, isTerminal } from '@perdure/protocol'
import { approvalEvents } from '../durable/approvals/approval-events.ts'
import { activeAncestors } from '../runs/active-ancestors.ts'

export interface RemindApprovalDeps {
  readonly approvals: ApprovalStore
  readonly runs: RunStore
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
}

/**
 * Reminds once of an approval that is due for it, and assigns it to `escalateTo`: one commit clears `remindAt`, so of
 * several processes, or after a crash, one reminds.
 */
export type RemindApproval = (approval: ApprovalRecord) => Promise<void>

export function createRemindApproval(deps: RemindApprovalDeps): RemindApproval {
  const { approvals, runs, unitOfWork } = deps

  return async ({ id, runId }) => {
    for (;;) {
      const approval = await approvals.find(id, EVERY_ROW)
      const run = await runs.find(runId, EVERY_ROW)
      if (approval?.remindAt === undefined || !isOpenApproval(approval.status)) return
      const outcome = await unitOfWork.commit([
        { type: 'approval.remind', id, assignee: approval.escalateTo },
        ...(run === undefined || isTerminal(run.status) ? [] : await toldTo(deps, approval, run)),
      ])
      if (outcome.committed || !isOfRun(outcome)) return
    }
  }
}

/** The status of the run has changed, so the reminder must be decided again: a run that has ended takes no events. */
const isOfRun = (outcome: Extract<CommitOutcome, { readonly committed: false }>) =>
  outcome.conflict.type === 'run.transition'

async function toldTo(
  { runs, clock }: RemindApprovalDeps,
  approval: ApprovalRecord,
  run: RunRecord,
): Promise<readonly Write[]> {
  const ancestors = await activeAncestors(runs, run)
  const detail = { at: clock.now(), ancestors }
  const { escalateTo: assignee } = approval
  const escalated: readonly NewEvent[] =
    assignee === undefined ? [] : approvalEvents({ ...approval, assignee }, 'approval.escalated', detail)
  return [
    {
      ...{ type: 'run.transition', runId: run.id, from: [run.status], attempt: run.attempt, execution: run.execution },
      change: {},
    },
    {
      type: 'event.append',
      events: [...approvalEvents(approval, 'approval.reminder', detail), ...escalated],
    },
  ]
}

import {
  type ApprovalRecord,
  type ApprovalStore,
  type Clock,
  EVERY_ROW,
  type NewEvent,
  type RunStore,
  type UnitOfWork,
} from '@perdure/ports'
import { isOpenApproval, isTerminal } from '@perdure/protocol'
import { approvalEvents } from '../durable/approvals/approval-events.ts'
import { activeAncestors } from '../runs/active-ancestors.ts'
import type { DecideApprovals } from './decide-approvals.ts'

export interface ExpireApprovalDeps {
  readonly approvals: ApprovalStore
  readonly runs: RunStore
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly decideApprovals: DecideApprovals
}

/** Expires an overdue approval that no call waits for. Resumes its run if the run waits for no other approval. */
export type ExpireApproval = (approval: ApprovalRecord) => Promise<void>

export function createExpireApproval(deps: ExpireApprovalDeps): ExpireApproval {
  const { approvals, runs, clock, decideApprovals } = deps

  return async (approval) => {
    const run = await runs.find(approval.runId, EVERY_ROW)
    if (run === undefined || isTerminal(run.status)) return closeApproval(deps, approval)
    await decideApprovals({
      runId: run.id,
      prepare: async () => {
        const currentApproval = await approvals.find(approval.id, EVERY_ROW)
        const currentRun = (await runs.find(run.id, EVERY_ROW)) ?? run
        const resolution = { status: 'expired', reason: 'expired', resolvedAt: clock.now() } as const
        const isOpen =
          currentApproval !== undefined && isOpenApproval(currentApproval.status) && !isTerminal(currentRun.status)
        return {
          run: currentRun,
          resolved: isOpen ? [{ approval: currentApproval, resolution }] : [],
          writes: [],
          answer: () => ({ reply: { status: 204 }, remember: false }),
        }
      },
    })
  }
}

/** Expires an approval whose run has ended. */
export async function closeApproval(
  { unitOfWork, clock, runs }: Pick<ExpireApprovalDeps, 'unitOfWork' | 'clock' | 'runs'>,
  approval: ApprovalRecord,
): Promise<void> {
  const ancestors = await activeAncestors(runs, await runs.find(approval.runId, EVERY_ROW))
  const at = clock.now()
  const resolution = { status: 'expired', reason: 'the run has ended', resolvedAt: at } as const
  const events = approvalEvents({ ...approval, ...CONTENT, ...resolution }, 'approval.expired', { at, ancestors })
  await unitOfWork.commit([
    { type: 'approval.resolve', id: approval.id, resolution },
    // The final event closes the log of the run, so its event goes only to the inbox and the session. It can outlive the run,
    // so it has none of the content.
    {
      type: 'event.append',
      events: events.map((event) => (event.runId === approval.runId ? withoutRun(event) : event)),
    },
  ])
}

const CONTENT = { title: undefined, payload: undefined }

const withoutRun = (event: NewEvent): NewEvent => ({ ...event, runId: undefined })

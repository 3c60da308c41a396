import { isTerminal } from '@perdure/protocol'
import {
  type ApprovalRecord,
  type ApprovalStore,
  type Clock,
  EVERY_ROW,
  type RunStore,
  type UnitOfWork,
} from '@perdure/ports'
import { approvalEvents } from '../durable/approval-events.ts'
import type { DecideApprovals } from './decide-approvals.ts'

export interface ExpireApprovalDeps {
  readonly approvals: ApprovalStore
  readonly runs: RunStore
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly decideApprovals: DecideApprovals
}

/** Ends an approval that no call waits for and nobody has decided in time: its run goes on when it was the last one. */
export type ExpireApproval = (approval: ApprovalRecord) => Promise<void>

export function createExpireApproval(deps: ExpireApprovalDeps): ExpireApproval {
  const { approvals, runs, clock, decideApprovals } = deps

  return async (approval) => {
    const run = await runs.find(approval.runId, EVERY_ROW)
    if (run === undefined || isTerminal(run.status)) return closeApproval(deps, approval)
    await decideApprovals({
      runId: run.id,
      prepare: async () => {
        const now = await approvals.find(approval.id, EVERY_ROW)
        const current = (await runs.find(run.id, EVERY_ROW)) ?? run
        const resolution = { status: 'expired', reason: 'expired', resolvedAt: clock.now() } as const
        const isOpen = now?.status === 'pending' && !isTerminal(current.status)
        return {
          run: current,
          decided: isOpen ? [{ approval: now, resolution }] : [],
          writes: [],
          answer: () => ({ reply: { status: 204 }, remember: false }),
        }
      },
    })
  }
}

/** Ends an approval whose run has ended. */
export async function closeApproval(
  { unitOfWork, clock }: Pick<ExpireApprovalDeps, 'unitOfWork' | 'clock'>,
  approval: ApprovalRecord,
): Promise<void> {
  const at = clock.now()
  const resolution = { status: 'expired', reason: 'the run has ended', resolvedAt: at } as const
  // The log of the run is closed by the event of its end; the inbox and the session still hear of this.
  const told = approvalEvents({ ...approval, ...resolution }, 'approval.expired', at)
  await unitOfWork.commit([
    { type: 'approval.resolve', id: approval.id, resolution },
    { type: 'event.append', events: told.map((event) => ({ ...event, runId: undefined })) },
  ])
}

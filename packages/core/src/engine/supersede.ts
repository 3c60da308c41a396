import { type ApprovalStore, EVERY_ROW, isRefusal, type ListedRun } from '@perdure/ports'
import type { ResolveApproval } from '../approvals/resolve-approval.ts'
import type { Principal } from '../auth/principal.ts'
import type { RunTarget } from '../targets/run-target.ts'

export interface SupersedeDeps {
  readonly approvals: Pick<ApprovalStore, 'list'>
  readonly resolveApproval: ResolveApproval
}

interface Superseding {
  readonly turns: readonly ListedRun<never>[]
  /** The sender of the message. */
  readonly by: Principal
}

/** Denies the open approvals of these runs if the target says so, because their user has sent another message. */
export async function supersede(
  { approvals, resolveApproval }: SupersedeDeps,
  { onBusyWaiting }: RunTarget,
  { turns, by: { subject: by, tokenId } }: Superseding,
): Promise<void> {
  if (onBusyWaiting !== 'deny') return
  for (const { id: runId } of turns) {
    const { items } = await approvals.list({ runId, status: 'pending' }, { limit: 100, order: 'asc' }, EVERY_ROW)
    for (const { id: approvalId } of items) {
      const decision = { approved: false, reason: 'superseded' }
      await resolveApproval({ approvalId, ...decision, by, tokenId, visibility: EVERY_ROW }).catch((error: unknown) => {
        // Somebody else has decided it, or the run has ended.
        if (!isRefusal(error)) throw error
      })
    }
  }
}

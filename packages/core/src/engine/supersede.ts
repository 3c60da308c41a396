import {
  type ApprovalRecord,
  type ApprovalStore,
  EVERY_ROW,
  isRefusal,
  type ListedRun,
  type RunRecord,
  type RunStore,
  type StepStore,
} from '@perdure/ports'
import { ADMIN_SCOPE } from '@perdure/protocol'
import { asksToRepeat } from '../approvals/asks-to-repeat.ts'
import type { ResolveApproval } from '../approvals/resolve-approval.ts'
import { eachItem } from '../collections/each-item.ts'
import { isBackground } from '../runs/background-run.ts'
import { eachRun } from '../runs/each-run.ts'
import { queuedSince } from './lanes/run-line.ts'

export interface SupersedeDeps {
  readonly approvals: Pick<ApprovalStore, 'list'>
  readonly runs: RunStore
  readonly steps: Pick<StepStore, 'find'>
  readonly resolveApproval: ResolveApproval
}

/**
 * Denies the approvals that were open when the message came, of a turn of the same owner and of its children. Approvals that were
 * asked for later stay open: the user had not seen them. So do those that ask whether a call that a crash cut off may run again: its
 * effect may have happened, which no message can take back.
 */
export type Supersede = (turn: Pick<ListedRun<never>, 'id' | 'owner'>, message: RunRecord) => Promise<void>

export function createSupersede({ approvals, runs, steps, resolveApproval }: SupersedeDeps): Supersede {
  const mayRepeat = async ({ runId, seq }: Pick<ApprovalRecord, 'runId' | 'seq'>) => {
    const asking = seq === undefined ? undefined : await steps.find(runId, seq)
    return asking !== undefined && asksToRepeat(asking)
  }

  const deny = async (runId: string, message: RunRecord): Promise<void> => {
    const pages = (cursor: string | undefined) =>
      approvals.list({ runId, status: 'pending' }, { limit: 100, order: 'asc', cursor }, EVERY_ROW)
    for await (const approval of eachItem(pages)) {
      const { id: approvalId, createdAt } = approval
      if (createdAt > queuedSince(message) || (await mayRepeat(approval))) continue
      // The message withdraws what its owner has asked for, whoever would decide it.
      const decision = { approved: false, reason: 'superseded', by: message.owner, scopes: [ADMIN_SCOPE] }
      await resolveApproval({ approvalId, ...decision, visibility: EVERY_ROW }).catch((error: unknown) => {
        // Somebody else has decided it, or the run has ended.
        if (!isRefusal(error)) throw error
      })
    }
    for await (const child of eachRun(runs, { parentRunId: runId, statuses: ['suspended'] }, { content: [] })) {
      if (!isBackground(child)) await deny(child.id, message)
    }
  }

  return async ({ id, owner }, message) => {
    if (owner === message.owner) await deny(id, message)
  }
}

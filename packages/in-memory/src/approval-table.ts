import type { ApprovalRecord, ApprovalStore } from '@berth/ports'
import { changed } from './changed.ts'
import { createRecordTable } from './record-table.ts'
import { isVisible, ofTarget } from './row-visibility.ts'
import type { RunBelongings } from './thread-deletion.ts'
import { putEntry } from './undo-log.ts'
import type { WriteAppliers } from './write-applier.ts'

export interface ApprovalTable extends RunBelongings {
  readonly store: ApprovalStore
  readonly appliers: Pick<WriteAppliers, 'approval.insert' | 'approval.resolve'>
  idsOfRun(runId: string): readonly string[]
}

export function createApprovalTable(): ApprovalTable {
  const approvals = createRecordTable<ApprovalRecord>()
  const idsByRun = new Map<string, readonly string[]>()

  return {
    store: {
      async find(id, visibility) {
        const approval = approvals.get(id)
        return approval !== undefined && isVisible(ofTarget(approval), visibility) ? approval : undefined
      },
      async list({ status, runId }, page, visibility) {
        return approvals.page(
          page,
          (approval) =>
            (status === undefined || approval.status === status) &&
            (runId === undefined || approval.runId === runId) &&
            isVisible(ofTarget(approval), visibility),
        )
      },
    },
    appliers: {
      'approval.insert'({ type, approval }, { undo }) {
        const { id, runId } = approval
        const current = approvals.get(id)
        if (current !== undefined) return { type, current }
        approvals.put(approval, undo)
        putEntry(idsByRun, [runId, [...(idsByRun.get(runId) ?? []), id]], undo)
        return 1
      },
      'approval.resolve'({ type, id, resolution }, { undo }) {
        const current = approvals.get(id)
        if (current?.status !== 'pending') return { type, current }
        approvals.put(changed(current, resolution), undo)
        return 1
      },
    },
    idsOfRun: (runId) => idsByRun.get(runId) ?? [],
    removeRun(runId, undo) {
      for (const id of idsByRun.get(runId) ?? []) approvals.delete(id, undo)
      putEntry(idsByRun, [runId, undefined], undo)
    },
  }
}

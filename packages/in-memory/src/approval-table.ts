import type { ApprovalRecord, ApprovalStore, EpochMs } from '@perdure/ports'
import { changed } from './changed.ts'
import { createRecordTable } from './record-table.ts'
import { isVisible, ofTarget } from './row-visibility.ts'
import type { RunBelongings } from './thread-deletion.ts'
import { putEntry, type UndoLog } from './undo-log.ts'
import type { Table, WritesOf } from './write-applier.ts'

export interface ApprovalTable extends Table<ApprovalStore, WritesOf<'approval'>>, RunBelongings {
  idsOfRun(runId: string): readonly string[]
}

export function createApprovalTable(): ApprovalTable {
  const approvals = createRecordTable<ApprovalRecord>()
  const idsByRun = new Map<string, readonly string[]>()
  const ofRuns = new Map<string, Expiring>()
  const reminders = new Map<string, Reminding>()

  const put = (approval: ApprovalRecord, undo: UndoLog) => {
    approvals.put(approval, undo)
    putEntry(ofRuns, [approval.id, isExpiring(approval) ? approval : undefined], undo)
    putEntry(reminders, [approval.id, isReminding(approval) ? approval : undefined], undo)
  }

  const expiring = () => Array.from(ofRuns.values()).sort((one, other) => one.expiresAt - other.expiresAt)

  const reminding = () => Array.from(reminders.values()).sort((one, other) => one.remindAt - other.remindAt)

  return {
    store: {
      async find(id, visibility) {
        const approval = approvals.get(id)
        return approval !== undefined && isVisible(ofTarget(approval), visibility) ? approval : undefined
      },
      async list({ status, runId, toolCallId }, page, visibility) {
        return approvals.page(
          page,
          (approval) =>
            (status === undefined || approval.status === status) &&
            (runId === undefined || approval.runId === runId) &&
            (toolCallId === undefined || approval.toolCallId === toolCallId) &&
            isVisible(ofTarget(approval), visibility),
        )
      },
      due: async (now, limit) =>
        expiring()
          .filter(({ expiresAt }) => expiresAt <= now)
          .slice(0, limit),
      nextDueAt: async () => expiring()[0]?.expiresAt,
      toRemind: async (now, limit) =>
        reminding()
          .filter(({ remindAt }) => remindAt <= now)
          .slice(0, limit),
      nextReminderAt: async () => reminding()[0]?.remindAt,
    },
    appliers: {
      'approval.insert'({ type, approval }, { undo }) {
        const { id, runId } = approval
        const current = approvals.get(id)
        if (current !== undefined) return { type, current }
        put(approval, undo)
        putEntry(idsByRun, [runId, [...(idsByRun.get(runId) ?? []), id]], undo)
        return 1
      },
      'approval.resolve'({ type, id, resolution }, { undo }) {
        const current = approvals.get(id)
        if (current?.status !== 'pending') return { type, current }
        put(changed(current, resolution), undo)
        return 1
      },
      'approval.remind'({ type, id, assignee }, { undo }) {
        const current = approvals.get(id)
        if (current?.status !== 'pending' || current.remindAt === undefined) return { type, current }
        const { remindAt: _, ...reminded } = current
        put(changed<ApprovalRecord>(reminded, { assignee }), undo)
        return 1
      },
      'approval.fence'({ type, ids }) {
        const first = ids.find((id) => approvals.get(id)?.status !== 'pending')
        return first === undefined ? 0 : { type, current: approvals.get(first) }
      },
    },
    idsOfRun: (runId) => idsByRun.get(runId) ?? [],
    removeRun(runId, undo) {
      for (const id of idsByRun.get(runId) ?? []) {
        approvals.delete(id, undo)
        putEntry(ofRuns, [id, undefined], undo)
        putEntry(reminders, [id, undefined], undo)
      }
      putEntry(idsByRun, [runId, undefined], undo)
    },
  }
}

/** A pending approval that no call waits for: only its own expiry can end it. */
type Expiring = ApprovalRecord & { readonly expiresAt: EpochMs }

const isExpiring = (approval: ApprovalRecord): approval is Expiring =>
  approval.status === 'pending' && approval.seq === undefined && approval.expiresAt !== undefined

/** A pending approval whose reminder was not sent. */
type Reminding = ApprovalRecord & { readonly remindAt: EpochMs }

const isReminding = (approval: ApprovalRecord): approval is Reminding =>
  approval.status === 'pending' && approval.remindAt !== undefined

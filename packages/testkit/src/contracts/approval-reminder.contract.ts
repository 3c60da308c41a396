import { type ApprovalRecord, EVERY_ROW, type Storage, type Write } from '@perdure/ports'
import { expect } from 'vitest'
import { anApproval, aRun } from '../builders.ts'
import { commit, insertApprovals, insertRuns, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

async function open(storage: Storage, ...approvals: readonly ApprovalRecord[]): Promise<void> {
  await insertRuns(storage, aRun())
  await insertApprovals(storage, ...approvals)
}

const remind = (id: string, assignee?: string): Write => ({ type: 'approval.remind', id, assignee })

const dueAt = async (storage: Storage, ms: number, limit = 10) =>
  (await storage.approvals.toRemind(at(ms), limit)).map(({ id }) => id)

export const approvalReminderCases: readonly ContractCase[] = [
  {
    title: 'lists approvals to remind of from remindAt on, earliest first, up to the limit',
    async run(storage) {
      expect([await dueAt(storage, 50), await storage.approvals.nextReminderAt()]).toEqual([[], undefined])
      const early = anApproval({ id: 'early', seq: 1, remindAt: at(10), expiresAt: at(90) })
      await open(
        storage,
        anApproval({ id: 'late', remindAt: at(30) }),
        early,
        anApproval({ id: 'never', expiresAt: at(1) }),
        anApproval({ id: 'middle', remindAt: at(20) }),
        anApproval({ id: 'decided', status: 'denied', remindAt: at(5) }),
      )

      expect([await dueAt(storage, 9), await dueAt(storage, 30), await dueAt(storage, 30, 2)]).toEqual([
        [],
        ['early', 'middle', 'late'],
        ['early', 'middle'],
      ])
      expect(await storage.approvals.toRemind(at(10), 10)).toEqual([early])
      expect(await storage.approvals.nextReminderAt()).toBe(at(10))
    },
  },
  {
    title: 'reminds of an approval once, and changes its assignee only to a given one',
    async run(storage) {
      const { remindAt: _, ...kept } = anApproval({ id: 'kept', assignee: 'user', escalateTo: 'staff' })
      await open(
        storage,
        { ...kept, remindAt: at(10) },
        anApproval({ id: 'moved', assignee: 'user', remindAt: at(10) }),
        anApproval({ id: 'open', remindAt: at(40) }),
      )

      expect((await commit(storage, remind('kept'), remind('moved', 'staff'))).counts).toEqual([1, 1])

      expect(await storage.approvals.find('kept', EVERY_ROW)).toEqual(kept)
      expect(await storage.approvals.find('moved', EVERY_ROW)).toEqual(anApproval({ id: 'moved', assignee: 'staff' }))
      expect([await dueAt(storage, 40), await storage.approvals.nextReminderAt()]).toEqual([['open'], at(40)])
      expect((await refused(storage, remind('kept', 'staff'))).conflict).toEqual({
        ...{ type: 'approval.remind', current: kept },
      })
    },
  },
  {
    title: 'does not remind of an approval that is decided, has no reminder or does not exist',
    async run(storage) {
      const decided = anApproval({ id: 'decided', status: 'approved', remindAt: at(10) })
      const never = anApproval({ id: 'never' })
      await open(storage, decided, never)

      for (const current of [decided, never]) {
        const { conflict } = await refused(storage, remind(current.id, 'staff'))
        expect(conflict).toEqual({ type: 'approval.remind', current })
        expect(await storage.approvals.find(current.id, EVERY_ROW)).toEqual(current)
      }
      expect((await refused(storage, remind('unknown'))).conflict).toEqual({ type: 'approval.remind' })
    },
  },
]

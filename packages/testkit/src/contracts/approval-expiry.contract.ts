import { type ApprovalRecord, EVERY_ROW, type Storage } from '@perdure/ports'
import { expect } from 'vitest'
import { anApproval, aRun } from '../builders.ts'
import { commit, insertApprovals, insertRuns } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

async function open(storage: Storage, ...approvals: readonly ApprovalRecord[]): Promise<void> {
  await insertRuns(storage, aRun())
  await insertApprovals(storage, ...approvals)
}

const dueAt = async (storage: Storage, ms: number, limit = 10) =>
  (await storage.approvals.due(at(ms), limit)).map(({ id }) => id)

export const approvalExpiryCases: readonly ContractCase[] = [
  {
    title: 'treats an approval without a waiting call as due exactly from expiresAt',
    async run(storage) {
      expect([await dueAt(storage, 1_000), await storage.approvals.nextDueAt()]).toEqual([[], undefined])
      const approval = anApproval({ id: 'a', expiresAt: at(1_000) })
      await open(storage, approval)

      expect([await dueAt(storage, 999), await storage.approvals.nextDueAt()]).toEqual([[], at(1_000)])
      expect(await storage.approvals.due(at(1_000), 10)).toEqual([approval])
    },
  },
  {
    title: 'lists due approvals earliest first, up to the limit',
    async run(storage) {
      await open(
        storage,
        anApproval({ id: 'late', expiresAt: at(30) }),
        anApproval({ id: 'early', expiresAt: at(10) }),
        anApproval({ id: 'never' }),
        anApproval({ id: 'middle', expiresAt: at(20) }),
        anApproval({ id: 'later', expiresAt: at(99) }),
      )

      expect([await dueAt(storage, 50), await dueAt(storage, 50, 2)]).toEqual([
        ['early', 'middle', 'late'],
        ['early', 'middle'],
      ])
      expect(await storage.approvals.nextDueAt()).toBe(at(10))
    },
  },
  {
    title: 'lists neither resolved approvals nor approvals with a waiting call as due',
    async run(storage) {
      await open(
        storage,
        anApproval({ id: 'of-call', seq: 1, expiresAt: at(5) }),
        anApproval({ id: 'approved', status: 'approved', expiresAt: at(5) }),
        anApproval({ id: 'open', expiresAt: at(7) }),
      )
      expect(await dueAt(storage, 50)).toEqual(['open'])

      await commit(storage, {
        type: 'approval.resolve',
        id: 'open',
        resolution: { status: 'denied', resolvedAt: at(6) },
      })
      expect([await dueAt(storage, 50), await storage.approvals.nextDueAt()]).toEqual([[], undefined])
    },
  },
  {
    title: 'lists the approvals of one tool call of a run',
    async run(storage) {
      await insertRuns(storage, aRun({ id: 'other' }))
      await open(
        storage,
        anApproval({ id: 'a', toolCallId: 'call', createdAt: at(1) }),
        anApproval({ id: 'b', toolCallId: 'call', createdAt: at(2), status: 'approved' }),
        anApproval({ id: 'c', toolCallId: 'call-2', createdAt: at(3) }),
        anApproval({ id: 'd', createdAt: at(4) }),
        anApproval({ id: 'e', runId: 'other', toolCallId: 'call', createdAt: at(5) }),
      )
      const list = async (toolCallId: string, more = {}) => {
        const filter = { runId: aRun().id, toolCallId, ...more }
        return (await storage.approvals.list(filter, { limit: 10, order: 'desc' }, EVERY_ROW)).items.map(({ id }) => id)
      }

      expect([await list('call'), await list('call-2'), await list('unknown')]).toEqual([['b', 'a'], ['c'], []])
      expect(await list('call', { status: 'pending' })).toEqual(['a'])
    },
  },
]

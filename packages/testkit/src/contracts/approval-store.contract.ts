import {
  type ApprovalRecord,
  type ApprovalResolution,
  type ApprovalStatus,
  EVERY_ROW,
  type Storage,
  toJsonText,
  type Write,
} from '@perdure/ports'
import { expect } from 'vitest'
import { anApproval, aRun, aSession } from '../builders.ts'
import { approvalExpiryCases } from './approval-expiry.contract.ts'
import { approvalListCases } from './approval-list.contract.ts'
import { approvalReminderCases } from './approval-reminder.contract.ts'
import { commit, insertApprovals, insertRuns, refused } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { at, eachAlone, type Optionals } from './optional-fields.ts'

const OPTIONALS: Optionals<ApprovalRecord> = {
  seq: 3,
  sessionId: 'ses_1',
  title: 'Grüße an alle? 🚢',
  payload: toJsonText({ text: 'Grüße, 世界 🚢', nested: [null, 0.5] }),
  toolCallId: 'call_1',
  expiresAt: at(60_000),
  resolvedAt: at(5),
  by: 'bob',
  reason: 'too "early"\n',
  decision: toJsonText(null),
  assignee: 'workflows:resume:payments',
  argsSchema: toJsonText(true),
  args: toJsonText({ amount: 60 }),
  editedArgs: toJsonText({ amount: 40 }),
  remindAt: at(30_000),
  escalateTo: 'staff',
}

const APPROVED: ApprovalResolution = {
  status: 'approved',
  resolvedAt: at(10),
  by: 'carol',
  reason: 'looks good',
  decision: toJsonText({ amount: 5 }),
  editedArgs: toJsonText({ amount: 5 }),
}

const STATUSES: readonly ApprovalStatus[] = ['pending', 'approved', 'denied', 'expired']

const find = (storage: Storage, id = anApproval().id) => storage.approvals.find(id, EVERY_ROW)
const resolve = (resolution: ApprovalResolution, id = anApproval().id): Write => ({
  type: 'approval.resolve',
  id,
  resolution,
})

async function open(storage: Storage, ...approvals: readonly ApprovalRecord[]): Promise<void> {
  await commit(storage, { type: 'session.insert', session: aSession({ id: OPTIONALS.sessionId }) })
  await insertRuns(storage, aRun())
  await insertApprovals(storage, ...approvals)
}

const roundTripCases: readonly ContractCase[] = [
  {
    title: 'finds no approval for an unknown id',
    async run(storage) {
      await open(storage, anApproval())

      expect(await find(storage, 'apr-unknown')).toBeUndefined()
    },
  },
  {
    title: 'round-trips an approval with all, one and none of the optional fields',
    async run(storage) {
      const approvals = [{ ...OPTIONALS }, ...eachAlone(OPTIONALS), {}].map((fields, index) =>
        anApproval({ id: `apr-${index}`, ...fields }),
      )
      await open(storage, ...approvals)

      for (const approval of approvals) expect(await find(storage, approval.id)).toEqual(approval)
    },
  },
  {
    title: 'round-trips approvals of both run kinds in every status',
    async run(storage) {
      const approvals = STATUSES.flatMap((status) => [
        anApproval({ id: `agent-${status}`, status }),
        anApproval({ id: `flow-${status}`, kind: 'workflow', status }),
      ])
      await open(storage, ...approvals)

      for (const approval of approvals) expect(await find(storage, approval.id)).toEqual(approval)
    },
  },
  {
    title: 'refuses an approval with a taken id and returns the existing approval',
    async run(storage) {
      const first = anApproval({ ...OPTIONALS, owner: 'alice' })
      await open(storage, first)

      const outcome = await refused(storage, { type: 'approval.insert', approval: anApproval({ owner: 'bob' }) })

      expect(outcome.conflict).toEqual({ type: 'approval.insert', current: first })
      expect(await find(storage)).toEqual(first)
    },
  },
]

const resolveCases: readonly ContractCase[] = [
  {
    title: 'resolves a pending approval with every field of the resolution and changes nothing else',
    async run(storage) {
      const { resolvedAt: _, by: _by, reason: _reason, decision: _decision, editedArgs: _edited, ...asked } = OPTIONALS
      const approval = anApproval(asked)
      const neighbour = anApproval({ id: 'neighbour' })
      await open(storage, approval, neighbour)

      const { counts } = await commit(storage, resolve(APPROVED))

      expect(counts).toEqual([1])
      expect(await find(storage)).toEqual({ ...approval, ...APPROVED })
      expect(await find(storage, 'neighbour')).toEqual(neighbour)
    },
  },
  {
    title: 'resolves an approval to each outcome and does not set the fields that the resolution omits',
    async run(storage) {
      await open(storage)
      for (const status of ['approved', 'denied', 'expired'] as const) {
        await insertApprovals(storage, anApproval({ id: status }))
        await commit(storage, resolve({ status, resolvedAt: at(1) }, status))

        expect(await find(storage, status)).toEqual(anApproval({ id: status, status, resolvedAt: at(1) }))
      }
    },
  },
  {
    title: 'refuses to resolve an approval that is not pending and returns its resolution',
    async run(storage) {
      await open(storage, anApproval())
      await commit(storage, resolve(APPROVED))
      const approved = { ...anApproval(), ...APPROVED }

      for (const status of ['approved', 'denied', 'expired'] as const) {
        const outcome = await refused(storage, resolve({ status, resolvedAt: at(20), by: 'late' }))
        expect(outcome.conflict).toEqual({ type: 'approval.resolve', current: approved })
      }
      expect(await find(storage)).toEqual(approved)
    },
  },
  {
    title: 'refuses to resolve an approval that was inserted as resolved',
    async run(storage) {
      await open(storage)
      for (const status of ['approved', 'denied', 'expired'] as const) {
        const approval = anApproval({ id: status, status })
        await insertApprovals(storage, approval)

        const outcome = await refused(storage, resolve(APPROVED, status))
        expect(outcome.conflict).toEqual({ type: 'approval.resolve', current: approval })
      }
    },
  },
  {
    title: 'refuses to resolve an unknown approval and returns no current record',
    async run(storage) {
      await open(storage, anApproval())

      expect((await refused(storage, resolve(APPROVED, 'apr-unknown'))).conflict).toEqual({ type: 'approval.resolve' })
    },
  },
]

const fence = (...ids: readonly string[]): Write => ({ type: 'approval.fence', ids })

const fenceCases: readonly ContractCase[] = [
  {
    title: 'lets a commit pass a fence of pending approvals without changing anything',
    async run(storage) {
      const approvals = ['a', 'b'].map((id) => anApproval({ id }))
      await open(storage, ...approvals)

      expect((await commit(storage, fence(), fence('b', 'a', 'a'))).counts).toEqual([0, 0])
      expect(await Promise.all(approvals.map(({ id }) => find(storage, id)))).toEqual(approvals)
    },
  },
  {
    title: 'returns the first approval of a fence that is not pending, and nothing for an unknown approval',
    async run(storage) {
      const approvals = STATUSES.map((status) => anApproval({ id: status, status }))
      await open(storage, ...approvals)
      const [pending, ...decided] = approvals
      for (const current of decided) {
        const { conflict } = await refused(storage, fence('pending', current.id, 'unknown'))
        expect(conflict).toEqual({ type: 'approval.fence', current })
      }

      expect((await refused(storage, fence('unknown', 'approved'))).conflict).toEqual({ type: 'approval.fence' })
      expect(await find(storage, 'pending')).toEqual(pending)
    },
  },
  {
    title: 'conflicts at a fence of an approval that an earlier write of the commit resolves',
    async run(storage) {
      await open(storage, anApproval())

      expect(await refused(storage, resolve(APPROVED), fence(anApproval().id))).toMatchObject({
        index: 1,
        conflict: { type: 'approval.fence', current: { status: 'approved' } },
      })
      expect(await find(storage)).toEqual(anApproval())
    },
  },
  {
    title: 'lets only one of two concurrent decisions leave the other approval undecided',
    async run(storage) {
      await open(storage, anApproval({ id: 'a' }), anApproval({ id: 'b' }))
      const leave = { type: 'run.transition', runId: aRun().id, from: ['queued'], attempt: 1, change: {} } as const
      const decide = (id: string, other: string) =>
        storage.unitOfWork.commit([resolve(APPROVED, id), leave, fence(other)])

      const outcomes = await Promise.all([decide('a', 'b'), decide('b', 'a')])

      expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1)
      const statuses = [(await find(storage, 'a'))?.status, (await find(storage, 'b'))?.status]
      expect(statuses.toSorted()).toEqual(['approved', 'pending'])
    },
  },
]

export const approvalStoreCases: readonly ContractCase[] = [
  ...roundTripCases,
  ...resolveCases,
  ...fenceCases,
  ...approvalListCases,
  ...approvalExpiryCases,
  ...approvalReminderCases,
]

/** Requirements for every `ApprovalStore` and for writes of approvals. */
export const approvalStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'ApprovalStore', cases: approvalStoreCases }], harness)

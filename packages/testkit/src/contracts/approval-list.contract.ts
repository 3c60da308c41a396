import {
  type ApprovalFilter,
  type ApprovalStatus,
  EVERY_ROW,
  type Storage,
  toJsonText,
  type Visibility,
} from '@perdure/ports'
import { expect } from 'vitest'
import { anApproval, aRun } from '../builders.ts'
import { commit, idsOf, insertApprovals, insertRuns, walk } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'
import { pagedListCases } from './paged-list.contract.ts'

const ALL = ['a', 'b', 'c', 'd', 'e']

const FILTERED: readonly (readonly [ApprovalFilter, readonly string[]])[] = [
  [{}, ALL],
  [{ status: 'pending' }, ['a', 'c']],
  [{ status: 'approved' }, ['b']],
  [{ status: 'denied' }, ['d']],
  [{ status: 'expired' }, ['e']],
  [{ runId: 'run-1' }, ['a', 'b', 'e']],
  [{ runId: 'run-unknown' }, []],
  [{ runId: 'run-2', status: 'pending' }, ['c']],
  [{ runId: 'run-2', status: 'approved' }, []],
  [{ runId: undefined, status: undefined }, ALL],
]

/** Approvals of two runs in every status; an agent and a workflow share the id `echo`. */
async function insertListed(storage: Storage): Promise<void> {
  await insertRuns(storage, aRun({ id: 'run-1' }), aRun({ id: 'run-2', kind: 'workflow' }))
  await insertApprovals(
    storage,
    anApproval({ id: 'a', createdAt: at(0), runId: 'run-1', owner: 'alice' }),
    anApproval({ id: 'b', createdAt: at(1), runId: 'run-1', owner: 'bob', targetId: 'other', status: 'approved' }),
    anApproval({ id: 'c', createdAt: at(2), runId: 'run-2', owner: 'bob', kind: 'workflow' }),
    anApproval({ id: 'd', createdAt: at(3), runId: 'run-2', owner: 'carol', kind: 'workflow', status: 'denied' }),
    anApproval({ id: 'e', createdAt: at(4), runId: 'run-1', owner: 'alice', targetId: 'other', status: 'expired' }),
  )
}

const SEEN: readonly (readonly [Visibility, readonly string[]])[] = [
  [EVERY_ROW, ALL],
  [{}, []],
  [{ owner: 'alice' }, ['a', 'e']],
  [{ owner: 'nobody' }, []],
  [{ ids: ['b', 'd', 'unknown'] }, ['b', 'd']],
  [{ ids: ['run-1', 'run-2'] }, []],
  [{ ids: [] }, []],
  [{ agentIds: 'all' }, ['a', 'b', 'e']],
  [{ agentIds: ['echo'] }, ['a']],
  [{ agentIds: ['echo', 'other'] }, ['a', 'b', 'e']],
  [{ workflowIds: 'all' }, ['c', 'd']],
  [{ workflowIds: ['echo'] }, ['c', 'd']],
  [{ workflowIds: ['other'] }, []],
  [{ agentIds: [], workflowIds: [] }, []],
  [{ agentIds: 'all', workflowIds: 'all' }, ALL],
  [{ owner: 'carol', ids: ['a'], agentIds: ['other'] }, ['a', 'b', 'd', 'e']],
  [{ owner: 'bob', ids: ['b'] }, ['b', 'c']],
]

const filterCases: readonly ContractCase[] = [
  ...pagedListCases({
    noun: 'approvals',
    prepare: (storage) => insertRuns(storage, aRun()),
    insert: (storage, { id, createdAt, text }) =>
      insertApprovals(storage, anApproval({ id, createdAt, payload: toJsonText(text) })),
    list: (storage, page) => storage.approvals.list({}, page, EVERY_ROW),
  }),
  {
    title: 'lists approvals with all their fields',
    async run(storage) {
      const approval = anApproval({ title: 't', payload: toJsonText({ a: 1 }), expiresAt: at(9) })
      await insertRuns(storage, aRun())
      await insertApprovals(storage, approval)

      expect((await storage.approvals.list({}, { limit: 1, order: 'asc' }, EVERY_ROW)).items).toEqual([approval])
    },
  },
  {
    title: 'orders approvals by creation time rather than insertion, ties by id',
    async run(storage) {
      await insertRuns(storage, aRun())
      for (const [id, ms] of [
        ['d', 5],
        ['c', 1],
        ['b', 5],
        ['a', 5],
        ['e', 0],
      ] as const) {
        await insertApprovals(storage, anApproval({ id, createdAt: at(ms) }))
      }

      const list = (order: 'asc' | 'desc') =>
        walk((page) => storage.approvals.list({ status: 'pending' }, page, EVERY_ROW), { limit: 2, order })
      expect((await list('asc')).map(({ id }) => id)).toEqual(['e', 'c', 'a', 'b', 'd'])
      expect((await list('desc')).map(({ id }) => id)).toEqual(['d', 'b', 'a', 'c', 'e'])
    },
  },
  {
    title: 'pages through the approvals that match every filter without repeats or gaps',
    async run(storage) {
      await insertListed(storage)

      for (const [filter, expected] of FILTERED) {
        for (const limit of [1, 2, 200]) {
          const list = (order: 'asc' | 'desc') =>
            walk((page) => storage.approvals.list(filter, page, EVERY_ROW), { limit, order })
          expect((await list('asc')).map(({ id }) => id)).toEqual(expected)
          expect((await list('desc')).map(({ id }) => id)).toEqual(expected.toReversed())
        }
      }
    },
  },
  {
    title: 'lists an approval under its new status as soon as it is resolved',
    async run(storage) {
      await insertListed(storage)
      const list = (status: ApprovalStatus) => idsOf((page) => storage.approvals.list({ status }, page, EVERY_ROW))
      const resolution = { status: 'denied', resolvedAt: at(9) } as const
      await commit(storage, { type: 'approval.resolve', id: 'a', resolution })

      expect([await list('pending'), await list('denied')]).toEqual([['c'], ['a', 'd']])
    },
  },
]

const visibilityCases: readonly ContractCase[] = [
  {
    title: 'lists exactly the approvals that the caller may see',
    async run(storage) {
      await insertListed(storage)

      for (const [visibility, expected] of SEEN) {
        const list = (limit: number) =>
          walk((page) => storage.approvals.list({}, page, visibility), { limit, order: 'asc' })
        for (const listed of [await list(200), await list(1)]) {
          expect(
            listed.map(({ id }) => id),
            JSON.stringify(visibility),
          ).toEqual(expected)
        }
      }
    },
  },
  {
    title: 'finds exactly the approvals that the caller may see',
    async run(storage) {
      await insertListed(storage)

      for (const [visibility, expected] of SEEN) {
        const found = await Promise.all(ALL.map((id) => storage.approvals.find(id, visibility)))
        const ids = found.flatMap((approval) => (approval === undefined ? [] : [approval.id]))
        expect(ids, JSON.stringify(visibility)).toEqual(expected)
      }
    },
  },
  {
    title: 'lists an approval only if it is visible and matches the filter',
    async run(storage) {
      await insertListed(storage)

      for (const [visibility, seen] of SEEN) {
        for (const [filter, matching] of FILTERED) {
          const listed = await idsOf((page) => storage.approvals.list(filter, page, visibility))
          const expected = matching.filter((id) => seen.includes(id))
          expect(listed, JSON.stringify([visibility, filter])).toEqual(expected)
        }
      }
    },
  },
]

export const approvalListCases: readonly ContractCase[] = [...filterCases, ...visibilityCases]

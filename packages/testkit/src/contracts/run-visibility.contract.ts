import { EVERY_ROW, type Storage, type Visibility } from '@perdure/ports'
import { expect } from 'vitest'
import { aRun } from '../builders.ts'
import { idsOf, insertRuns, walk } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const ALL = ['a', 'b', 'c', 'd']

const SEEN: readonly (readonly [Visibility, readonly string[]])[] = [
  [EVERY_ROW, ALL],
  [{}, []],
  [{ owner: 'alice' }, ['a']],
  [{ owner: 'bob' }, ['b', 'c']],
  [{ owner: 'nobody' }, []],
  [{ ids: ['b', 'd', 'unknown'] }, ['b', 'd']],
  [{ ids: [] }, []],
  [{ agentIds: 'all' }, ['a', 'b']],
  [{ agentIds: ['echo'] }, ['a']],
  [{ agentIds: ['echo', 'other'] }, ['a', 'b']],
  [{ agentIds: [] }, []],
  [{ workflowIds: 'all' }, ['c', 'd']],
  [{ workflowIds: ['echo'] }, ['c']],
  [{ workflowIds: [] }, []],
  [{ agentIds: 'all', workflowIds: 'all' }, ALL],
  [{ owner: 'alice', workflowIds: ['nightly'] }, ['a', 'd']],
  [{ ids: ['a'], agentIds: ['other'] }, ['a', 'b']],
  [{ owner: 'bob', ids: ['b'], agentIds: ['other'], workflowIds: ['echo'] }, ['b', 'c']],
  [{ owner: 'nobody', ids: [], agentIds: [], workflowIds: [] }, []],
]

/** An agent and a workflow share the id `echo`. */
const insertSeen = (storage: Storage): Promise<void> =>
  insertRuns(
    storage,
    aRun({ id: 'a', createdAt: at(0), owner: 'alice', targetId: 'echo' }),
    aRun({ id: 'b', createdAt: at(1), owner: 'bob', targetId: 'other' }),
    aRun({ id: 'c', createdAt: at(2), owner: 'bob', kind: 'workflow', targetId: 'echo' }),
    aRun({ id: 'd', createdAt: at(3), owner: 'carol', kind: 'workflow', targetId: 'nightly' }),
  )

export const runVisibilityCases: readonly ContractCase[] = [
  {
    title: 'lists exactly the runs that the caller may see',
    async run(storage) {
      await insertSeen(storage)

      for (const [visibility, expected] of SEEN) {
        const listed = await idsOf((page) => storage.runs.list({}, page, visibility))
        expect(listed, JSON.stringify(visibility)).toEqual(expected)
      }
    },
  },
  {
    title: 'finds exactly the runs that the caller may see',
    async run(storage) {
      await insertSeen(storage)

      for (const [visibility, expected] of SEEN) {
        const found = await Promise.all(ALL.map((id) => storage.runs.find(id, visibility)))
        const ids = found.flatMap((run) => (run === undefined ? [] : [run.id]))
        expect(ids, JSON.stringify(visibility)).toEqual(expected)
      }
    },
  },
  {
    title: 'fills pages with visible runs only, without repeats or gaps',
    async run(storage) {
      await insertSeen(storage)

      for (const [visibility, expected] of SEEN) {
        const seen = await walk((page) => storage.runs.list({}, page, visibility), { limit: 1, order: 'desc' })
        expect(
          seen.map(({ id }) => id),
          JSON.stringify(visibility),
        ).toEqual(expected.toReversed())
      }
    },
  },
  {
    title: 'lists a run only if it is visible and matches the filter',
    async run(storage) {
      await insertSeen(storage)
      const visibility = { owner: 'alice', ids: ['d'], agentIds: ['other'] }

      const list = (filter: { readonly targetId: string }) =>
        idsOf((page) => storage.runs.list(filter, page, visibility))

      expect([await list({ targetId: 'echo' }), await list({ targetId: 'nightly' })]).toEqual([['a'], ['d']])
    },
  },
]

import {
  EVERY_ROW,
  type PageQuery,
  type RunChange,
  type RunFilter,
  type RunRecord,
  type Storage,
  toJsonText,
} from '@perdure/ports'
import { expect } from 'vitest'
import { aRun } from '../builders.ts'
import { commit, walk } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const FIELDED: readonly (readonly [RunFilter, readonly string[]])[] = [
  [{ userId: 'ada' }, ['a', 'b', 'f']],
  [{ userId: 'nobody' }, []],
  [{ metadata: { ticket: '17' } }, ['a', 'c', 'f']],
  [{ metadata: { ticket: '17', tier: 'gold' } }, ['c', 'f']],
  [{ metadata: { tier: '17' } }, []],
  [{ metadata: { ticket: '17' }, userId: 'ada' }, ['a', 'f']],
  [{ version: '2' }, ['b', 'd']],
  [{ tag: 'slow' }, ['a', 'd', 'f']],
  [{ tag: 'nightly', version: '2' }, ['d']],
  [{ startKey: 'k1' }, ['d']],
  [{ startKey: 'slow' }, []],
  [{ code: 'run-failed' }, ['c', 'd']],
  [{ code: 'timeout' }, ['e']],
  [{ finishReason: 'error' }, ['c', 'd']],
  [{ finishReason: 'timeout' }, ['e']],
  [{ finishReason: 'completed' }, ['f']],
  [{ finishReason: 'error', statuses: ['failed'], owner: 'bob' }, ['d']],
  [{ owner: 'bob' }, ['d', 'e']],
  [{ owner: 'bob', code: 'timeout' }, ['e']],
  [{ ids: ['a', 'e', 'unknown'] }, ['a', 'e']],
  [{ ids: [] }, []],
  [{ ids: ['a', 'c'], userId: 'ada' }, ['a']],
  [{ until: at(2) }, ['a', 'b']],
  [{ tag: 'slow', since: at(1), until: at(4) }, ['d']],
  [{ metadata: { ticket: '17' }, since: at(2), until: at(5) }, ['c']],
  [{ isParked: true }, ['b']],
  [{ isParked: true, version: '1' }, []],
]

/** Runs whose fields are known at the start, and runs that get their fields when they end. */
async function insertFielded(storage: Storage): Promise<void> {
  const insert = (run: RunRecord, tags: readonly string[] = [], startKey?: string) =>
    commit(storage, { type: 'run.insert', run, labels: { tags, startKey } })
  const end = (runId: string, change: RunChange) =>
    commit(storage, { type: 'run.transition', runId, from: ['running'], attempt: 1, change })
  await insert(aRun({ id: 'a', createdAt: at(0), userId: 'ada', metadata: { ticket: '17' } }), ['slow', 'slow'])
  await insert(aRun({ id: 'b', createdAt: at(1), userId: 'ada', version: '2', status: 'running' }))
  await end('b', { status: 'suspended', parked: toJsonText({ seq: 1 }) })
  await insert(aRun({ id: 'c', createdAt: at(2), status: 'running', metadata: { ticket: '17', tier: 'gold' } }))
  await end('c', { status: 'failed', finishReason: 'error', error: { code: 'run-failed', message: 'no' } })
  await insert(
    aRun({ id: 'd', createdAt: at(3), version: '2', owner: 'bob', status: 'running' }),
    ['slow', 'nightly'],
    'k1',
  )
  await end('d', { status: 'failed', finishReason: 'error', error: { code: 'run-failed', message: 'no' } })
  const error = { code: 'timeout', message: 'late' }
  await insert(aRun({ id: 'e', createdAt: at(4), status: 'failed', finishReason: 'timeout', error, owner: 'bob' }))
  const f = aRun({ id: 'f', createdAt: at(5), status: 'running', userId: 'ada' })
  await insert({ ...f, metadata: { ticket: '17', tier: 'gold' } }, ['slow'])
  await end('f', { status: 'completed', finishReason: 'completed' })
}

export const runFieldCases: readonly ContractCase[] = [
  {
    title: 'lists the runs with all given fields, whether they had them from the start or got them at the end',
    async run(storage) {
      await insertFielded(storage)

      for (const [filter, ids] of FIELDED) {
        const { items } = await storage.runs.list(filter, { limit: 50, order: 'asc' }, EVERY_ROW)
        expect([filter, items.map(({ id }) => id)]).toEqual([filter, ids])
      }
    },
  },
  {
    title: 'pages through the runs with a field in both orders, without repeats or gaps',
    async run(storage) {
      await insertFielded(storage)
      const filter: RunFilter = { userId: 'ada' }

      for (const order of ['asc', 'desc'] as const) {
        const list = (page: PageQuery) => storage.runs.list(filter, page, EVERY_ROW)
        const ids = (await walk(list, { order, limit: 1 })).map(({ id }) => id)
        expect(ids).toEqual(order === 'asc' ? ['a', 'b', 'f'] : ['f', 'b', 'a'])
      }
    },
  },
  {
    title: 'lists only the visible runs with a field',
    async run(storage) {
      await insertFielded(storage)

      const { items } = await storage.runs.list({ tag: 'slow' }, { limit: 50, order: 'asc' }, { owner: 'bob' })
      expect(items.map(({ id }) => id)).toEqual(['d'])
    },
  },
]

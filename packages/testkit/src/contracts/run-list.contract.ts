import {
  EVERY_ROW,
  type PageQuery,
  RUN_CONTENT,
  type RunContent,
  type RunFilter,
  type RunRecord,
  type RunStatus,
  type Storage,
  toJsonText,
} from '@perdure/ports'
import { expect } from 'vitest'
import { aRun, aSession, BUILT_AT } from '../builders.ts'
import { commit, idsOf, insertRuns, pagesOf, walk } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'
import { outlineCases } from './outline.contract.ts'
import { pagedListCases } from './paged-list.contract.ts'

const FILTERED: readonly (readonly [RunFilter, readonly string[]])[] = [
  [{}, ['a', 'b', 'c', 'd', 'e']],
  [{ statuses: ['queued'] }, ['a', 'e']],
  [{ statuses: ['running', 'failed'] }, ['b', 'c', 'd']],
  [{ statuses: ['aborted'] }, []],
  [{ kind: 'agent' }, ['a', 'b', 'c']],
  [{ kind: 'workflow' }, ['d', 'e']],
  [{ targetId: 'echo' }, ['a', 'b', 'd']],
  [{ targetId: 'unknown' }, []],
  [{ sessionId: 'ses_1' }, ['b', 'e']],
  [{ threadId: 'thr_1' }, ['d', 'e']],
  [{ threadId: 'unknown' }, []],
  [{ threadId: 'thr_1', targetId: 'nightly' }, ['e']],
  [{ parentRunId: 'a' }, ['b', 'c', 'd']],
  [{ parentRunId: 'a', statuses: ['queued', 'running', 'suspended'] }, ['b', 'd']],
  [{ parentRunId: 'b' }, []],
  [{ isRoot: true, sessionId: 'ses_1' }, ['e']],
  [{ isRoot: true, sessionId: 'ses_1', kind: 'agent' }, []],
  [{ isRoot: true }, ['a', 'e']],
  [{ since: at(2) }, ['c', 'd', 'e']],
  [{ since: at(5) }, []],
  [{ kind: 'agent', targetId: 'echo' }, ['a', 'b']],
  [{ kind: 'agent', targetId: 'echo', statuses: ['running'], sessionId: 'ses_1', since: at(1) }, ['b']],
  [{ kind: 'workflow', targetId: 'echo', statuses: ['queued'] }, []],
  [{ statuses: undefined, kind: undefined, targetId: undefined, sessionId: undefined, since: at(4) }, ['e']],
  [{ threadId: undefined, parentRunId: undefined, kind: 'workflow', since: at(4) }, ['e']],
]

async function insertFiltered(storage: Storage): Promise<void> {
  await commit(storage, { type: 'session.insert', session: aSession({ id: 'ses_1' }) })
  await insertRuns(
    storage,
    aRun({ id: 'a', createdAt: at(0), status: 'queued' }),
    aRun({ id: 'b', createdAt: at(1), status: 'running', sessionId: 'ses_1', parentRunId: 'a' }),
    aRun({ id: 'c', createdAt: at(2), status: 'failed', targetId: 'other', parentRunId: 'a' }),
    aRun({ id: 'd', createdAt: at(3), status: 'running', kind: 'workflow', threadId: 'thr_1', parentRunId: 'a' }),
    aRun({
      id: 'e',
      createdAt: at(4),
      status: 'queued',
      kind: 'workflow',
      targetId: 'nightly',
      threadId: 'thr_1',
      sessionId: 'ses_1',
    }),
  )
}

const mapValues = <T, U>(values: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]))

function withOnly(run: RunRecord, content: readonly RunContent[]): Partial<RunRecord> {
  const left = RUN_CONTENT.filter((name) => !content.includes(name))
  return { ...run, ...Object.fromEntries(left.map((name) => [name, undefined])) }
}

const EVERY_RUN = { limit: 200, order: 'asc' } as const

const DELETE_THREAD = {
  type: 'thread.delete',
  workflowId: aRun().targetId,
  threadId: 'thr_1',
  answer: { status: 404, body: '' },
} as const

const outlined = (storage: Storage) => storage.runs.outline({}, EVERY_RUN, EVERY_ROW)

export const runListCases: readonly ContractCase[] = [
  ...pagedListCases({
    noun: 'runs',
    insert: (storage, { id, createdAt, text }) => insertRuns(storage, aRun({ id, createdAt, input: toJsonText(text) })),
    list: (storage, page) => storage.runs.list({}, page, EVERY_ROW),
  }),
  ...pagedListCases({
    noun: 'outlined runs',
    insert: (storage, { id, createdAt, text }) => insertRuns(storage, aRun({ id, createdAt, input: toJsonText(text) })),
    list: (storage, page) => storage.runs.outline({}, page, EVERY_ROW),
  }),
  ...(['input', 'result'] as const).flatMap((member) =>
    outlineCases({
      noun: `${member}s of runs`,
      insert: (storage, text) =>
        insertRuns(storage, aRun({ kind: 'workflow', threadId: 'thr_1', status: 'completed', [member]: text })),
      texts: async (storage) => (await outlined(storage)).items.map((run) => run[member]),
      list: (storage) => storage.runs.list({}, EVERY_RUN, EVERY_ROW),
      outline: outlined,
      remove: (storage) => commit(storage, DELETE_THREAD),
    }),
  ),
  {
    title: 'lists runs with all their fields',
    async run(storage) {
      const run = aRun({ status: 'failed', error: { code: 'run-failed', message: 'm' }, metadata: { a: 'b' } })
      await insertRuns(storage, run)

      expect((await storage.runs.list({}, { limit: 1, order: 'asc' }, EVERY_ROW)).items).toEqual([run])
    },
  },
  {
    title: 'lists runs with exactly the large members that the query names',
    async run(storage) {
      const large = { input: 'a', result: 'b', suspension: 'c', resumption: 'd' }
      const run = aRun({ ...mapValues(large, toJsonText), status: 'suspended', budget: { tokens: 1 } })
      await insertRuns(storage, run)

      for (const content of [[], ['input'], ['result'], ['input', 'result'], RUN_CONTENT] as const) {
        const { items } = await storage.runs.list({}, { limit: 1, order: 'asc', content }, EVERY_ROW)
        expect(items).toEqual([withOnly(run, content)])
      }
    },
  },
  {
    title: 'counts only the large members that the query names towards the size of a page of runs',
    async run(storage) {
      const run = { input: toJsonText('x'.repeat(3 * 1024 * 1024)), result: toJsonText('x'.repeat(2 * 1024 * 1024)) }
      await insertRuns(storage, ...['a', 'b', 'c'].map((id) => aRun({ id, ...run })))
      const lengths = async (content: readonly RunContent[]) => {
        const list = (page: PageQuery) => storage.runs.list({}, { ...page, content }, EVERY_ROW)
        return (await pagesOf(list, { limit: 200, order: 'asc' })).map(({ length }) => length)
      }

      expect(await lengths([])).toEqual([3])
      expect(await lengths(['result'])).toEqual([1, 1, 1])
      expect(await lengths(['input', 'result'])).toEqual([1, 1, 1])
    },
  },
  {
    title: 'orders runs by creation time rather than insertion, ties by id',
    async run(storage) {
      const made = [
        ['d', 5],
        ['c', 1],
        ['b', 5],
        ['a', 5],
        ['e', 0],
      ] as const
      await insertRuns(storage, ...made.map(([id, ms]) => aRun({ id, createdAt: at(ms) })))

      for (const limit of [1, 2, 200]) {
        const list = (order: 'asc' | 'desc') => walk((page) => storage.runs.list({}, page, EVERY_ROW), { limit, order })
        expect((await list('asc')).map(({ id }) => id)).toEqual(['e', 'c', 'a', 'b', 'd'])
        expect((await list('desc')).map(({ id }) => id)).toEqual(['d', 'b', 'a', 'c', 'e'])
      }
    },
  },
  {
    title: 'lists the runs that match every given filter',
    async run(storage) {
      await insertFiltered(storage)

      for (const [filter, expected] of FILTERED) {
        const found = await idsOf((page) => storage.runs.list(filter, page, EVERY_ROW))
        expect(found, JSON.stringify(filter)).toEqual(expected)
      }
    },
  },
  {
    title: 'pages through filtered runs without repeats or gaps',
    async run(storage) {
      await insertFiltered(storage)

      for (const [filter, expected] of FILTERED) {
        for (const limit of [1, 2]) {
          const list = (order: 'asc' | 'desc') =>
            walk((page) => storage.runs.list(filter, page, EVERY_ROW), { limit, order })
          expect((await list('asc')).map(({ id }) => id)).toEqual(expected)
          expect((await list('desc')).map(({ id }) => id)).toEqual(expected.toReversed())
        }
      }
    },
  },
  {
    title: 'loses no run when the last run of a page stops matching the filter before the next page is read',
    async run(storage) {
      const ids = ['a', 'b', 'c', 'd']
      await insertRuns(storage, ...ids.map((id) => aRun({ id, createdAt: BUILT_AT })))
      const queued = { statuses: ['queued'] as readonly RunStatus[] }
      const first = await storage.runs.list(queued, { limit: 2, order: 'asc' }, EVERY_ROW)
      await commit(storage, {
        type: 'run.transition',
        runId: 'b',
        from: ['queued'],
        attempt: 1,
        change: { status: 'running' },
      })

      const cursor = first.nextCursor ?? undefined
      const second = await storage.runs.list(queued, { limit: 2, order: 'asc', cursor }, EVERY_ROW)

      expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(ids)
    },
  },
  {
    title: 'lists a run under its new status as soon as a transition is committed',
    async run(storage) {
      await insertRuns(storage, aRun())
      const list = (status: RunStatus) => idsOf((page) => storage.runs.list({ statuses: [status] }, page, EVERY_ROW))
      await commit(storage, {
        type: 'run.transition',
        runId: aRun().id,
        from: ['queued'],
        attempt: 1,
        change: { status: 'running' },
      })

      expect([await list('queued'), await list('running')]).toEqual([[], [aRun().id]])
    },
  },
]

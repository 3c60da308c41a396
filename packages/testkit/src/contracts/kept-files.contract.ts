import { EVERY_ROW, type RunRecord, type Storage, type Write } from '@perdure/ports'
import { expect } from 'vitest'
import { aRun, aSession } from '../builders.ts'
import { aFile } from '../file-builders.ts'
import { commit, insertRuns, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const ALL = { limit: 200, order: 'asc' } as const
const ANSWER = { status: 404, body: '{}' }

const aFlow = (id: string, over: Partial<RunRecord> = {}): RunRecord =>
  aRun({
    ...{ id, kind: 'workflow', targetId: 'flow', threadId: `thread of ${id}`, status: 'completed' },
    ...{ createdAt: at(1), completedAt: at(2) },
    ...over,
  })

const keep = (runId: string, ...ids: readonly string[]) => ({ type: 'file.keep', runId, ids }) as const

const insert = (storage: Storage, ...ids: readonly string[]) =>
  commit(storage, ...ids.map((id) => ({ type: 'file.insert', file: aFile({ id }) }) as const))

const fileIds = async ({ files }: Storage) => (await files.list({}, ALL, EVERY_ROW)).items.map(({ id }) => id)

const byThread = (runId: string): Write => ({
  ...{ type: 'thread.delete', workflowId: 'flow', threadId: `thread of ${runId}`, answer: ANSWER },
})

/** The three ways in which a run is deleted. */
const DELETIONS: readonly { readonly by: string; readonly write: (runId: string) => Write }[] = [
  { by: 'its thread', write: byThread },
  { by: 'its session', write: (runId) => ({ type: 'session.delete', id: `session of ${runId}`, answer: ANSWER }) },
  { by: 'its age', write: () => ({ type: 'run.prune', before: at(10), limit: 1 }) },
]

/** Files that runs hold: long results of their durable calls. */
export const keptFileCases: readonly ContractCase[] = [
  {
    title: 'lets a run hold files, whoever owns them, each once, also in the commit that creates it',
    async run(storage) {
      await insert(storage, 'a', 'b')
      const { counts } = await commit(
        storage,
        { type: 'file.insert', file: aFile({ id: 'of bob', owner: 'bob' }) },
        { type: 'run.insert', run: aFlow('r1') },
        keep('r1', 'a', 'of bob'),
        keep('r1', 'a', 'a'),
      )
      await insertRuns(storage, aFlow('r0'))
      await commit(storage, keep('r0', 'a'))

      expect(counts).toEqual([1, 1, 2, 0])
      const holding = await Promise.all(['a', 'b', 'of bob', 'unknown'].map((id) => storage.files.holdingRuns(id, 9)))
      expect(holding).toEqual([['r0', 'r1'], [], ['r1'], []])
      expect(await storage.files.holdingRuns('a', 1)).toEqual(['r0'])
      expect(await storage.files.holders('a')).toEqual([])
    },
  },
  {
    title: 'refuses to let a run hold a file that does not exist, and names it, or an unknown run hold any',
    async run(storage) {
      await insert(storage, 'a')
      await insertRuns(storage, aFlow('r1'))

      expect((await refused(storage, keep('r1', 'a', 'gone'))).conflict).toEqual({ type: 'file.keep', missing: 'gone' })
      expect((await refused(storage, keep('unknown', 'a'))).conflict).toEqual({ type: 'file.keep' })
      expect(await storage.files.holdingRuns('a', 9)).toEqual([])
    },
  },
  {
    title: 'skips the files that do not exist or have another owner, if a run is to hold only those of one owner',
    async run(storage) {
      await insert(storage, 'a', 'b')
      await insertRuns(storage, aFlow('r1'))
      const ofOwner = { ...keep('r1', 'a', 'gone', 'of bob', 'b'), owner: 'alice' } as const

      const { counts } = await commit(
        storage,
        { type: 'file.insert', file: aFile({ id: 'of bob', owner: 'bob' }) },
        ofOwner,
      )

      expect(counts).toEqual([1, 2])
      const holding = await Promise.all(['a', 'b', 'of bob'].map((id) => storage.files.holdingRuns(id, 9)))
      expect(holding).toEqual([['r1'], ['r1'], []])
      expect((await refused(storage, { ...ofOwner, runId: 'unknown' })).conflict).toEqual({ type: 'file.keep' })
    },
  },
  {
    title: 'neither prunes nor deletes a file that a run holds',
    async run(storage) {
      await insert(storage, 'a', 'b')
      await insertRuns(storage, aFlow('r1'))
      await commit(storage, keep('r1', 'a'))

      await commit(storage, { type: 'file.prune', before: at(1_000), limit: 9 })

      expect(await fileIds(storage)).toEqual(['a'])
      const { conflict } = await refused(storage, { type: 'file.delete', id: 'a' })
      expect(conflict).toEqual({ type: 'file.delete', current: aFile({ id: 'a' }) })
    },
  },
  ...DELETIONS.map(
    ({ by, write }): ContractCase => ({
      title: `deletes a file with the last run that holds it, when the run is deleted with ${by}`,
      async run(storage) {
        for (const id of ['r1', 'r2']) {
          const sessionId = `session of ${id}`
          await commit(
            storage,
            { type: 'session.insert', session: aSession({ id: sessionId }) },
            { type: 'run.insert', run: aFlow(id, { sessionId, createdAt: at(id === 'r1' ? 1 : 2) }) },
          )
        }
        await insert(storage, 'shared', 'own', 'upload')
        await commit(storage, keep('r1', 'shared', 'own'), keep('r2', 'shared'))

        await commit(storage, write('r1'))
        expect(await fileIds(storage)).toEqual(['shared', 'upload'])
        expect(await storage.files.holdingRuns('shared', 9)).toEqual(['r2'])

        await commit(storage, write('r2'))
        expect(await fileIds(storage)).toEqual(['upload'])
      },
    }),
  ),
  {
    title: 'deletes a file that a run and a session hold with the last of them',
    async run(storage) {
      await commit(storage, { type: 'session.insert', session: aSession({ id: 's1' }) })
      await insertRuns(storage, aFlow('r1'), aFlow('r2'))
      await insert(storage, 'run last', 'session last')
      const hold = { type: 'file.hold', sessionId: 's1', owner: 'alice', ids: ['run last', 'session last'] } as const
      await commit(storage, hold, keep('r1', 'session last'), keep('r2', 'run last'))

      await commit(storage, byThread('r1'))
      expect(await fileIds(storage)).toEqual(['run last', 'session last'])
      await commit(storage, { type: 'session.delete', id: 's1', answer: ANSWER })
      expect(await fileIds(storage)).toEqual(['run last'])
      await commit(storage, { type: 'file.prune', before: at(1_000), limit: 9 })
      expect(await fileIds(storage)).toEqual(['run last'])
      await commit(storage, byThread('r2'))
      expect(await fileIds(storage)).toEqual([])
    },
  },
  {
    title: 'does not let a new run with the id of a deleted run hold its files',
    async run(storage) {
      await insertRuns(storage, aFlow('r1'), aFlow('r2'))
      await insert(storage, 'shared')
      await commit(storage, keep('r1', 'shared'), keep('r2', 'shared'))
      await commit(storage, byThread('r1'))
      await insertRuns(storage, aFlow('r1'))

      expect(await storage.files.holdingRuns('shared', 9)).toEqual(['r2'])
    },
  },
  {
    title: 'never deletes a file that a run starts to hold while another run is deleted',
    async run(storage) {
      for (let round = 0; round < 5; round++) {
        const [first, second, id] = [`a${round}`, `b${round}`, `f${round}`]
        await insertRuns(storage, aFlow(first), aFlow(second, { status: 'running' }))
        await insert(storage, id)
        await commit(storage, keep(first, id))

        const [, kept] = await Promise.all([
          commit(storage, byThread(first)),
          storage.unitOfWork.commit([keep(second, id)]),
        ])

        expect((await storage.files.find(id, EVERY_ROW)) !== undefined).toBe(kept.committed)
      }
    },
  },
]

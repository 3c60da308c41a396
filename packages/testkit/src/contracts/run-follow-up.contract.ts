import { EVERY_ROW, type RunChange, type RunRecord, type Storage, toJsonText, type Write } from '@perdure/ports'
import { expect } from 'vitest'
import { aRun } from '../builders.ts'
import { commit, findRun, insertRuns, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const ENDED = { status: 'completed', result: toJsonText('done'), completedAt: at(1) } as const satisfies RunChange

const end = (runId: string, needsFollowUp?: boolean): Write => ({
  ...{ type: 'run.transition', runId, from: ['running'], attempt: 1, change: ENDED, needsFollowUp },
})

const followedUp = (runId: string) => ({ type: 'run.followed-up', runId }) as const

const marked = async ({ runs }: Storage, limit = 100): Promise<readonly string[]> =>
  (await runs.needingFollowUp(limit)).map(({ id }) => id).toSorted()

async function open(storage: Storage, ...over: readonly Partial<RunRecord>[]): Promise<void> {
  await insertRuns(storage, ...over.map((one) => aRun({ status: 'running', ...one })))
}

export const runFollowUpCases: readonly ContractCase[] = [
  {
    title: 'lists exactly the runs whose transition needs a follow-up, with all their members',
    async run(storage) {
      await open(storage, { id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' })
      expect(await marked(storage)).toEqual([])
      await commit(storage, end('a', true), end('b', false), end('c'))

      expect(await storage.runs.needingFollowUp(10)).toEqual([aRun({ id: 'a', ...ENDED })])
      expect(await findRun(storage, 'a')).toEqual(aRun({ id: 'a', ...ENDED }))
    },
  },
  {
    title: 'lists a run until its follow-up is done, and counts that once',
    async run(storage) {
      await open(storage, { id: 'a' }, { id: 'b' })
      await commit(storage, end('a', true), end('b', true))

      const { counts } = await commit(storage, followedUp('a'), followedUp('a'), followedUp('unknown'))
      expect(counts).toEqual([1, 0, 0])
      expect(await marked(storage)).toEqual(['b'])
      expect(await findRun(storage, 'a')).toEqual(aRun({ id: 'a', ...ENDED }))
    },
  },
  {
    title: 'keeps the mark of a run that later transitions do not name, and marks a run once',
    async run(storage) {
      await open(storage, { id: 'a' })
      const touch = { type: 'run.transition', runId: 'a', from: ['completed'], attempt: 1, change: {} } as const
      await commit(
        storage,
        end('a', true),
        touch,
        { ...touch, needsFollowUp: false },
        { ...touch, needsFollowUp: true },
      )

      expect(await marked(storage)).toEqual(['a'])
      await commit(storage, followedUp('a'))
      expect(await marked(storage)).toEqual([])
    },
  },
  {
    title: 'marks a run that is interrupted while it is active, once',
    async run(storage) {
      await open(
        storage,
        { id: 'a' },
        { id: 'b', status: 'queued' },
        { id: 'c', status: 'suspended' },
        { id: 'd', ...ENDED },
      )
      const interrupt = (runId: string) => ({ type: 'run.interrupt', runId }) as const
      await refused(storage, interrupt('a'), { type: 'run.fence', runId: 'b', attempt: 9 })
      expect(await marked(storage)).toEqual([])

      const { counts } = await commit(storage, ...['a', 'b', 'c', 'a', 'd', 'unknown'].map(interrupt))
      expect(counts).toEqual([1, 1, 1, 0, 0, 0])
      expect(await marked(storage)).toEqual(['a', 'b', 'c'])
      expect(await findRun(storage, 'a')).toEqual(aRun({ id: 'a', status: 'running' }))
      await commit(storage, followedUp('a'))
      expect(await marked(storage)).toEqual(['b', 'c'])
    },
  },
  {
    title: 'lists no more runs than asked for, and all of them as they are followed up, however long they are',
    async run(storage) {
      const ids = Array.from({ length: 12 }, (_, index) => `run-${index}`)
      const metadata = { large: 'x'.repeat(500_000) }
      await open(storage, ...ids.map((id) => ({ id, metadata })))
      await commit(storage, ...ids.map((id) => end(id, true)))
      expect(await marked(storage, 2)).toHaveLength(2)

      const seen: string[] = []
      for (let next = await marked(storage); next.length > 0; next = await marked(storage)) {
        seen.push(...next)
        await commit(storage, ...next.map(followedUp))
      }
      expect(seen.toSorted()).toEqual(ids.toSorted())
    },
  },
  {
    title: 'drops the mark of a transition that conflicts or is rolled back, and the mark of a deleted run',
    async run(storage) {
      await open(storage, { id: 'a' }, { id: 'b', kind: 'workflow', targetId: 'flow', threadId: 'thr' })
      await refused(storage, end('a', true), { type: 'run.fence', runId: 'b', attempt: 9 })
      expect(await marked(storage)).toEqual([])

      await commit(storage, end('a', true), end('b', true))
      await refused(storage, followedUp('a'), { type: 'run.fence', runId: 'b', attempt: 9 })
      expect(await marked(storage)).toEqual(['a', 'b'])

      const answer = { status: 404, body: '' }
      await commit(storage, { type: 'thread.delete', workflowId: 'flow', threadId: 'thr', answer })
      await commit(storage, { type: 'run.prune', before: at(10), limit: 10 })
      expect(await marked(storage)).toEqual([])
      await insertRuns(storage, aRun({ id: 'a', ...ENDED }))
      expect(await marked(storage)).toEqual([])
      expect((await storage.runs.list({}, { limit: 9, order: 'asc' }, EVERY_ROW)).items).toHaveLength(1)
    },
  },
]

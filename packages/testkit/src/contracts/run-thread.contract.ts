import type { RunRecord, RunStatus, Storage } from '@perdure/ports'
import { expect } from 'vitest'
import { aRun } from '../builders.ts'
import { commit, findRun, insertRuns, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'

const ACTIVE = ['queued', 'running', 'suspended'] as const
const ENDED = ['completed', 'failed', 'aborted'] as const

const ofThread = (id: string, status: RunStatus, over: Partial<RunRecord> = {}): RunRecord =>
  aRun({ id, status, kind: 'workflow', targetId: 'nightly', threadId: 'thr-1', ...over })

const insert = (run: RunRecord) => ({ type: 'run.insert', run }) as const

const end = (storage: Storage, { id, status }: RunRecord) =>
  commit(storage, {
    ...{ type: 'run.transition', runId: id, from: [status], attempt: 1 },
    change: { status: 'aborted' },
  })

export const runThreadCases: readonly ContractCase[] = [
  {
    title: 'refuses a second active run in a thread and returns the first, until the first has ended',
    async run(storage) {
      for (const first of ACTIVE.map((status) => ofThread(`first ${status}`, status))) {
        await insertRuns(storage, first)
        for (const status of ACTIVE) {
          const outcome = await refused(storage, insert(ofThread('second', status)))
          expect(outcome.conflict).toEqual({ type: 'run.insert', reason: 'thread', current: first })
          expect(await findRun(storage, 'second')).toBeUndefined()
        }
        await end(storage, first)
      }
      await insertRuns(storage, ofThread('last', 'running'))
    },
  },
  {
    title: 'accepts ended runs in a thread with an active run, and active runs in a thread with ended ones',
    async run(storage) {
      await insertRuns(storage, ...ENDED.map((status) => ofThread(status, status)))
      await insertRuns(storage, ofThread('active', 'suspended'))
      await insertRuns(storage, ...ENDED.map((status) => ofThread(`later ${status}`, status)))

      expect((await findRun(storage, 'active'))?.status).toBe('suspended')
    },
  },
  {
    title: 'accepts active runs of other threads, of other workflows and without a thread, and of agents',
    async run(storage) {
      await insertRuns(storage, ofThread('first', 'running'))
      for (const id of ['one', 'two']) {
        await insertRuns(
          storage,
          ofThread(`${id} of another thread`, 'running', { threadId: `thr ${id}` }),
          ofThread(`${id} of another workflow`, 'running', { targetId: `weekly ${id}` }),
          ofThread(`${id} without a thread`, 'running', { threadId: undefined }),
          ofThread(`${id} of an agent`, 'running', { kind: 'agent' }),
        )
      }
      expect((await refused(storage, insert(ofThread('second', 'queued')))).conflict.type).toBe('run.insert')
    },
  },
  {
    title: 'reports a taken id, and not the thread, when both conflict',
    async run(storage) {
      const first = ofThread('first', 'running')
      await insertRuns(storage, first)

      const { conflict } = await refused(storage, insert(first))
      expect(conflict).toEqual({ type: 'run.insert', current: first })
    },
  },
  {
    title: 'counts a run that the same commit ends or deletes as ended',
    async run(storage) {
      const first = ofThread('first', 'running')
      await insertRuns(storage, first)
      const second = ofThread('second', 'running')
      const abort = { type: 'run.transition', runId: 'first', from: ['running'], attempt: 1 } as const

      await commit(storage, { ...abort, change: { status: 'aborted' } }, insert(second))
      const outcome = await refused(storage, insert(ofThread('third', 'queued')))
      expect(outcome.conflict).toEqual({ type: 'run.insert', reason: 'thread', current: second })
    },
  },
  {
    title: 'lets exactly one of many concurrent callers start a run in a thread',
    async run(storage) {
      const runs = Array.from({ length: 10 }, (_, index) => ofThread(`run-${index}`, 'running'))

      const outcomes = await Promise.all(runs.map((run) => storage.unitOfWork.commit([insert(run)])))

      expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1)
    },
  },
]

import { EVERY_ROW, type RunChange, type RunRecord, type RunStatus } from '@perdure/ports'
import { RUN_STATUS_NAMES } from '@perdure/protocol'
import { expect } from 'vitest'
import { aRun } from '../builders.ts'
import { commit, findRun, insertRuns, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'

const { id: runId } = aRun()

const transition = (from: RunStatus, change: RunChange, execution?: number) =>
  ({ type: 'run.transition', runId, from: [from], attempt: 1, execution, change }) as const

const fence = (execution?: number) => ({ type: 'run.fence', runId, attempt: 1, execution }) as const

export const runExecutionCases: readonly ContractCase[] = [
  {
    title: 'counts how often a run becomes running, under the same attempt too',
    async run(storage) {
      await insertRuns(storage, aRun())
      for (const execution of [1, 2, 3]) {
        await commit(storage, transition('queued', { status: 'running' }))
        expect((await findRun(storage, runId))?.execution).toBe(execution)
        await commit(storage, transition('running', { status: 'suspended' }))
        await commit(storage, transition('suspended', { status: 'queued' }))
        expect(await findRun(storage, runId)).toEqual(aRun({ execution }))
      }
    },
  },
  {
    title: 'counts no execution for a transition that keeps the status or sets another one',
    async run(storage) {
      await insertRuns(storage, aRun({ status: 'running', execution: 7 }))
      for (const change of [{}, { status: 'running' as const }, { startAt: aRun().createdAt }]) {
        await commit(storage, transition('running', change))
        expect((await findRun(storage, runId))?.execution).toBe(7)
      }
      for (const status of RUN_STATUS_NAMES.filter((name) => name !== 'running')) {
        await insertRuns(storage, aRun({ id: status, status: 'running', execution: 4 }))
        await commit(storage, { ...transition('running', { status }), runId: status })
        expect((await findRun(storage, status))?.execution).toBe(4)
      }
    },
  },
  {
    title: 'refuses a transition of an earlier or later execution under the same attempt',
    async run(storage) {
      const run = aRun({ status: 'running', execution: 2 })
      await insertRuns(storage, run)

      for (const execution of [0, 1, 3]) {
        const { conflict } = await refused(storage, transition('running', { status: 'completed' }, execution))
        expect(conflict).toEqual({ type: 'run.transition', current: run })
      }
      expect(await findRun(storage, runId)).toEqual(run)
      await commit(storage, transition('running', { status: 'completed' }, 2))
      expect((await findRun(storage, runId))?.status).toBe('completed')
    },
  },
  {
    title: 'compares the execution of a transition with that before the transition',
    async run(storage) {
      await insertRuns(storage, aRun())
      expect((await refused(storage, transition('queued', { status: 'running' }, 1))).conflict).toEqual({
        type: 'run.transition',
        current: aRun(),
      })

      await commit(storage, transition('queued', { status: 'running' }, 0))
      expect(await findRun(storage, runId)).toEqual(aRun({ status: 'running', execution: 1 }))
    },
  },
  {
    title: 'conflicts at the fence of an execution that is not the current one, and passes without an execution',
    async run(storage) {
      const run = aRun({ status: 'running', execution: 2 })
      await insertRuns(storage, run)

      for (const execution of [0, 1, 3]) {
        expect((await refused(storage, fence(execution))).conflict).toEqual({ type: 'run.fence', current: run })
      }
      await commit(storage, fence(2), fence())
      expect(await findRun(storage, runId)).toEqual(run)
    },
  },
  {
    title: 'keeps out what is left of an execution after its run was suspended and resumed under the same attempt',
    async run(storage) {
      await insertRuns(storage, aRun({ status: 'running', execution: 1 }))
      await commit(storage, transition('running', { status: 'suspended' }, 1))
      await commit(storage, transition('suspended', { status: 'queued' }), transition('queued', { status: 'running' }))
      const current = aRun({ status: 'running', execution: 2 })

      const late = { type: 'event.append', events: [] } as const
      expect(await refused(storage, fence(1), late)).toMatchObject({ index: 0, conflict: { current } })
      await refused(storage, transition('running', { status: 'suspended' }, 1))
      expect(await findRun(storage, runId)).toEqual(current)
      await commit(storage, fence(2), late)
    },
  },
  {
    title: 'removes the executor of a run that a transition sets to a status other than running, unless it names one',
    async run(storage) {
      const stays: readonly RunChange[] = [{}, { status: 'running' }]
      const leaves = RUN_STATUS_NAMES.filter((name) => name !== 'running').map((status): RunChange => ({ status }))
      const apply = async (change: RunChange): Promise<RunRecord | undefined> => {
        const id = JSON.stringify(change)
        await insertRuns(storage, aRun({ id, status: 'running', execution: 1, executor: 'node-1' }))
        await commit(storage, { ...transition('running', change), runId: id })
        return findRun(storage, id)
      }

      for (const change of stays) expect((await apply(change))?.executor).toBe('node-1')
      for (const change of leaves) expect((await apply(change))?.executor).toBeUndefined()
      for (const change of [...stays, ...leaves]) {
        expect((await apply({ ...change, executor: 'node-2' }))?.executor).toBe('node-2')
      }
    },
  },
  {
    title: 'shows the execution and the executor of a run in every list',
    async run(storage) {
      const large = 'x'.repeat(20_000)
      const over = { execution: 3, executor: 'node-1', metadata: { large } } as const
      await insertRuns(storage, aRun({ status: 'running', ...over }))
      const page = { limit: 1, order: 'asc' } as const

      for (const content of [undefined, []] as const) {
        const listed = await storage.runs.list({}, { ...page, content }, EVERY_ROW)
        const outlined = await storage.runs.outline({}, { ...page, content }, EVERY_ROW)
        for (const { items } of [listed, outlined]) expect(items).toMatchObject([over])
      }
    },
  },
]

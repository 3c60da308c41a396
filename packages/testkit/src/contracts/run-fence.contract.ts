import { EVERY_ROW, NO_USAGE } from '@perdure/ports'
import { expect } from 'vitest'
import { aRun, BUILT_AT } from '../builders.ts'
import { commit, findRun, insertRuns, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'

export const runFenceCases: readonly ContractCase[] = [
  {
    title: 'lets the running attempt pass its fence without changing anything',
    async run(storage) {
      const run = aRun({ status: 'running', attempt: 3, usage: { ...NO_USAGE, toolCalls: 1 }, startedAt: BUILT_AT })
      await insertRuns(storage, run)
      await commit(storage, { type: 'run.fence', runId: run.id, attempt: 3 })

      expect(await findRun(storage, run.id)).toEqual(run)
    },
  },
  {
    title: 'conflicts at the fence of an attempt that is not the current attempt',
    async run(storage) {
      const run = aRun({ status: 'running', attempt: 2 })
      await insertRuns(storage, run)

      for (const attempt of [1, 3]) {
        const outcome = await refused(storage, { type: 'run.fence', runId: run.id, attempt })
        expect(outcome.conflict).toEqual({ type: 'run.fence', current: run })
      }
    },
  },
  {
    title: 'conflicts at the fence of a run that is not running',
    async run(storage) {
      for (const status of ['queued', 'suspended', 'completed', 'failed', 'aborted'] as const) {
        const run = aRun({ id: status, status })
        await insertRuns(storage, run)

        const outcome = await refused(storage, { type: 'run.fence', runId: status, attempt: 1 })
        expect(outcome.conflict).toEqual({ type: 'run.fence', current: run })
      }
      expect(await storage.runs.find('queued', EVERY_ROW)).toEqual(aRun({ id: 'queued', status: 'queued' }))
    },
  },
]

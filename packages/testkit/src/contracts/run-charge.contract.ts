import { RUN_STATUS_NAMES } from '@perdure/protocol'
import { expect } from 'vitest'
import { aRun } from '../builders.ts'
import { commit, findRun, insertRuns, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'

const USAGE = { inputTokens: 4, outputTokens: 7, costUsd: 0.25, toolCalls: 1 }

const charge = (runId: string) =>
  ({ type: 'run.charge', runId, usage: { inputTokens: 1, outputTokens: 1, costUsd: 0.25, toolCalls: 2 } }) as const

export const runChargeCases: readonly ContractCase[] = [
  {
    title: 'adds a charge to the usage of a run, whatever its status, and changes nothing else',
    async run(storage) {
      const runs = RUN_STATUS_NAMES.map((status) => aRun({ id: status, status, attempt: 3, usage: USAGE }))
      await insertRuns(storage, ...runs)
      for (const run of runs) {
        const { counts } = await commit(storage, charge(run.id), charge(run.id))
        expect(counts).toEqual([1, 1])
        const usage = { inputTokens: 6, outputTokens: 9, costUsd: 0.75, toolCalls: 5 }
        expect(await findRun(storage, run.id)).toEqual({ ...run, usage })
      }
    },
  },
  {
    title: 'charges nothing to an unknown run, and charges nothing when the commit conflicts',
    async run(storage) {
      const run = aRun({ status: 'running' })
      await insertRuns(storage, run)
      expect((await commit(storage, charge('run-unknown'))).counts).toEqual([0])

      await refused(storage, charge(run.id), { type: 'run.fence', runId: run.id, attempt: 2 })
      expect(await findRun(storage, run.id)).toEqual(run)
    },
  },
]

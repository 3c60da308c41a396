import type { EpochMs, RunRecord, Storage } from '@perdure/ports'
import { RUN_STATUS_NAMES } from '@perdure/protocol'
import { expect } from 'vitest'
import { aRun } from '../builders.ts'
import { commit, insertRuns } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const ids = (runs: readonly RunRecord[]): string[] => runs.map(({ id }) => id)

const startingAt = (id: string, ms: number) => aRun({ id, status: 'queued', startAt: at(ms) })

const state = async ({ runTimers }: Storage, after: EpochMs, through: EpochMs) => ({
  starting: ids(await runTimers.starting({ after, through }, 10)),
  next: await runTimers.nextStartAt(after),
})

export const runStartCases: readonly ContractCase[] = [
  {
    title: 'reports no start time while no queued run has one',
    async run(storage) {
      await insertRuns(storage, aRun())

      expect(await state(storage, at(0), at(99))).toEqual({ starting: [], next: undefined })
    },
  },
  {
    title: 'lists queued runs that start after the first and up to the second instant, earliest first',
    async run(storage) {
      await insertRuns(storage, ...[30, 10, 20, 40].map((ms) => startingAt(`run-${ms}`, ms)), startingAt('run-1', 20))

      expect(await state(storage, at(10), at(30))).toEqual({ starting: ['run-1', 'run-20', 'run-30'], next: at(20) })
      expect(ids(await storage.runTimers.starting({ after: at(0), through: at(99) }, 2))).toEqual(['run-10', 'run-1'])
      expect(await state(storage, at(40), at(99))).toEqual({ starting: [], next: undefined })
    },
  },
  {
    title: 'ignores the start time of a run that is not queued',
    async run(storage) {
      const others = RUN_STATUS_NAMES.filter((status) => status !== 'queued')
      await insertRuns(storage, ...others.map((status) => aRun({ id: status, status, startAt: at(10) })))

      expect(await state(storage, at(0), at(99))).toEqual({ starting: [], next: undefined })
    },
  },
  {
    title: 'follows a start time that a transition sets, and drops it when the run starts',
    async run(storage) {
      await insertRuns(storage, aRun({ id: 'run-1', status: 'running', attempt: 1 }))
      const transition = (from: 'running' | 'queued', change: { status: 'queued' | 'running'; startAt?: EpochMs }) =>
        commit(storage, { type: 'run.transition', runId: 'run-1', from: [from], attempt: 1, change })

      await transition('running', { status: 'queued', startAt: at(50) })
      expect(await state(storage, at(0), at(99))).toEqual({ starting: ['run-1'], next: at(50) })

      await transition('queued', { status: 'running' })
      expect(await state(storage, at(0), at(99))).toEqual({ starting: [], next: undefined })
    },
  },
]

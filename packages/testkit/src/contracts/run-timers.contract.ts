import { type RunRecord, type Storage, toJsonText } from '@perdure/ports'
import { expect } from 'vitest'
import { aRun } from '../builders.ts'
import { insertRuns } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { at } from './optional-fields.ts'
import { runDeadlineCases } from './run-deadline.contract.ts'
import { runStartCases } from './run-start.contract.ts'

const MEBIBYTE = 1024 * 1024

const lists = {
  'runs past their deadline': ({ runTimers }: Storage) => runTimers.pastDeadline(at(99), 10),
  'runs by start time': ({ runTimers }: Storage) => runTimers.starting({ after: at(0), through: at(99) }, 10),
}

const sizeCases = Object.entries(lists).map(
  ([noun, list]): ContractCase => ({
    title: `ends a list of ${noun} before the run that would bring it above the size of a page`,
    async run(storage) {
      const runOf = (ms: number, mebibytes: number): RunRecord => {
        const input = toJsonText('x'.repeat(mebibytes * MEBIBYTE))
        return aRun({ id: `run-${ms}`, status: 'queued', deadlineAt: at(ms), startAt: at(ms), input })
      }
      await insertRuns(storage, runOf(10, 1), runOf(20, 2), runOf(30, 2), runOf(40, 1))

      expect((await list(storage)).map(({ id }) => id)).toEqual(['run-10', 'run-20'])
    },
  }),
)

export const runTimersCases: readonly ContractCase[] = [...runDeadlineCases, ...runStartCases, ...sizeCases]

/** Requirements for every `RunTimers`. */
export const runTimersContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'RunTimers', cases: runTimersCases }], harness)

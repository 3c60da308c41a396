import type { RunRecord, RunStatus, Storage } from '@perdure/ports'
import { ACTIVE_RUN_STATUSES, ENDED_RUN_STATUSES } from '@perdure/protocol'
import { expect } from 'vitest'
import { aRun } from '../builders.ts'
import { commit, insertRuns } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const ids = (runs: readonly RunRecord[]): string[] => runs.map(({ id }) => id)

const transition = (storage: Storage, { id, status }: RunRecord, to: RunStatus) =>
  commit(storage, { type: 'run.transition', runId: id, from: [status], attempt: 1, change: { status: to } })

export const runDeadlineCases: readonly ContractCase[] = [
  {
    title: 'reports no overdue run and no next deadline while no run has a deadline',
    async run(storage) {
      expect([await storage.runTimers.pastDeadline(at(9), 10), await storage.runTimers.nextDeadlineAt()]).toEqual([
        [],
        undefined,
      ])
      await insertRuns(storage, aRun())

      expect([await storage.runTimers.pastDeadline(at(9), 10), await storage.runTimers.nextDeadlineAt()]).toEqual([
        [],
        undefined,
      ])
    },
  },
  {
    title: 'treats a run as past its deadline exactly from deadlineAt',
    async run(storage) {
      const run = aRun({ status: 'running', deadlineAt: at(1_000), budget: { maxDuration: 1_000 } })
      await insertRuns(storage, run)

      expect(await storage.runTimers.pastDeadline(at(999), 10)).toEqual([])
      expect(await storage.runTimers.pastDeadline(at(1_000), 10)).toEqual([run])
      expect(await storage.runTimers.pastDeadline(at(1_001), 10)).toEqual([run])
    },
  },
  {
    title: 'ignores the deadline of runs that have ended',
    async run(storage) {
      await insertRuns(storage, ...ENDED_RUN_STATUSES.map((status) => aRun({ id: status, status, deadlineAt: at(1) })))
      expect([await storage.runTimers.pastDeadline(at(9), 10), await storage.runTimers.nextDeadlineAt()]).toEqual([
        [],
        undefined,
      ])

      for (const status of ACTIVE_RUN_STATUSES) {
        const run = aRun({ id: status, status, deadlineAt: at(1) })
        await insertRuns(storage, run)
        expect([await storage.runTimers.pastDeadline(at(9), 10), await storage.runTimers.nextDeadlineAt()]).toEqual([
          [run],
          at(1),
        ])

        await transition(storage, run, 'failed')
        expect([await storage.runTimers.pastDeadline(at(9), 10), await storage.runTimers.nextDeadlineAt()]).toEqual([
          [],
          undefined,
        ])
      }
    },
  },
  {
    title: 'lists runs past their deadline earliest first, whatever their status, up to the limit',
    async run(storage) {
      const ofDeadline = (id: string, ms: number, status: RunStatus) => aRun({ id, status, deadlineAt: at(ms) })
      await insertRuns(
        storage,
        ofDeadline('c', 30, 'queued'),
        ofDeadline('a', 10, 'suspended'),
        ofDeadline('d', 40, 'running'),
        ofDeadline('b', 20, 'running'),
      )

      expect(ids(await storage.runTimers.pastDeadline(at(35), 10))).toEqual(['a', 'b', 'c'])
      expect(ids(await storage.runTimers.pastDeadline(at(35), 2))).toEqual(['a', 'b'])
    },
  },
  {
    title: 'reports the earliest deadline of all active runs, and the next deadline when that run ends',
    async run(storage) {
      const early = aRun({ id: 'early', status: 'running', deadlineAt: at(10) })
      await insertRuns(storage, aRun({ id: 'late', deadlineAt: at(20) }), early)
      expect(await storage.runTimers.nextDeadlineAt()).toBe(at(10))

      await transition(storage, early, 'suspended')
      expect(await storage.runTimers.nextDeadlineAt()).toBe(at(10))

      await transition(storage, { ...early, status: 'suspended' }, 'aborted')
      expect(await storage.runTimers.nextDeadlineAt()).toBe(at(20))
    },
  },
]

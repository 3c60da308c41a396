import type { Clock, CommitOutcome, RunRecord, UnitOfWork, Write } from '@perdure/ports'
import type { KeyedMutex } from '../concurrency/mutex.ts'
import { planResolution } from '../durable/wait-resolution.ts'
import type { WakeRun } from '../durable/wake-run.ts'
import { awaitsResume, storeResumption } from '../runs/stored-suspension.ts'

export interface ResumeSuspendedDeps {
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly runMutex: KeyedMutex
  readonly wakeRun: WakeRun
}

/** What resumes it, and what else belongs into the commit, before everything else. */
export interface Resuming {
  readonly payload: unknown
  readonly writes: readonly Write[]
}

export type ResumeResult = 'settled' | 'over' | CommitOutcome

/** Lets a run go on that has suspended itself, whatever approvals are open. `over` when it does not wait for that. */
export type ResumeSuspended = (run: RunRecord, resuming: Resuming) => Promise<ResumeResult>

export function createResumeSuspended({ unitOfWork, clock, runMutex, wakeRun }: ResumeSuspendedDeps): ResumeSuspended {
  return (run, { payload, writes }) =>
    runMutex(run.id, async () => {
      if (!awaitsResume(run)) return 'over'
      const settlement = planResolution(run, [], { at: clock.now(), resumption: storeResumption(payload) })
      const outcome = await unitOfWork.commit([
        ...writes,
        ...settlement.writes,
        { type: 'event.append', events: settlement.events },
      ])
      if (!outcome.committed) return outcome
      wakeRun(run, settlement)
      return 'settled'
    })
}

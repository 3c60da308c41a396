import { type Clock, type CommitOutcome, type RunRecord, toJsonText, type UnitOfWork, type Write } from '@perdure/ports'
import type { KeyedMutex } from '../concurrency/mutex.ts'
import { planResolution } from '../durable/wait-resolution.ts'
import type { WakeRun } from '../durable/wake-run.ts'
import type { Via } from '../runs/run-events.ts'
import { awaitsResume, storeResumption } from '../runs/stored-suspension.ts'

export interface ResumeSuspendedDeps {
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly runMutex: KeyedMutex
  readonly wakeRun: WakeRun
}

/** The payload that resumes the run, and writes to apply first in the same commit. */
export interface Resuming {
  readonly payload: unknown
  readonly via?: Via | undefined
  readonly writes: readonly Write[]
}

export type ResumeResult = 'resolved' | 'over' | CommitOutcome

/**
 * Resumes a run that returned `ctx.suspend(…)`, even if it has open approvals. Resolves with `over` when the run does
 * not wait for a resume.
 */
export type ResumeSuspended = (run: RunRecord, resuming: Resuming) => Promise<ResumeResult>

export function createResumeSuspended({ unitOfWork, clock, runMutex, wakeRun }: ResumeSuspendedDeps): ResumeSuspended {
  return (run, { payload, via, writes }) =>
    runMutex(run.id, async () => {
      if (!awaitsResume(run)) return 'over'
      const resolution = planResolution(run, [], {
        ...{ at: clock.now(), resumption: storeResumption(payload), via },
        // A client of another protocol shows its users the messages that they have sent to a run.
        payload: via === undefined ? undefined : toJsonText(payload ?? null),
      })
      const outcome = await unitOfWork.commit([
        ...writes,
        ...resolution.writes,
        { type: 'event.append', events: resolution.events },
      ])
      if (!outcome.committed) return outcome
      wakeRun(run, resolution)
      return 'resolved'
    })
}

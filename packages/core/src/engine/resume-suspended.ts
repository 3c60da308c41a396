import type { Clock, CommitOutcome, RunRecord, UnitOfWork, Write } from '@perdure/ports'
import type { InTurn } from '../concurrency/keyed-mutex.ts'
import { planSettlement } from '../durable/wait-resolution.ts'
import type { GoOn } from '../durable/wake-run.ts'
import { awaitsResume, storeResumption } from '../runs/stored-suspension.ts'

export interface ResumeSuspendedDeps {
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly inTurn: InTurn
  readonly goOn: GoOn
}

/** What resumes it, and what else belongs into the commit, before everything else. */
export interface Resuming {
  readonly payload: unknown
  readonly writes: readonly Write[]
}

export type ResumeResult = 'settled' | 'over' | CommitOutcome

/** Lets a run go on that has suspended itself, whatever approvals are open. `over` when it does not wait for that. */
export type ResumeSuspended = (run: RunRecord, resuming: Resuming) => Promise<ResumeResult>

export function createResumeSuspended({ unitOfWork, clock, inTurn, goOn }: ResumeSuspendedDeps): ResumeSuspended {
  return (run, { payload, writes }) =>
    inTurn(run.id, async () => {
      if (!awaitsResume(run)) return 'over'
      const settlement = planSettlement(run, [], { at: clock.now(), resumption: storeResumption(payload) })
      const outcome = await unitOfWork.commit([
        ...writes,
        ...settlement.writes,
        { type: 'event.append', events: settlement.events },
      ])
      if (!outcome.committed) return outcome
      goOn(run, settlement)
      return 'settled'
    })
}

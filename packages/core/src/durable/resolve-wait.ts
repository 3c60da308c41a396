import { isTerminal } from '@perdure/protocol'
import {
  type Clock,
  type CommitOutcome,
  EVERY_ROW,
  type NewEvent,
  type RunRecord,
  type RunStore,
  type StepRecord,
  type UnitOfWork,
  type Write,
  type WriteType,
} from '@perdure/ports'
import { closeAbandonedWait, planResolution, type ResolvedWait } from './wait-resolution.ts'
import type { WakeRun } from './wake-run.ts'

export interface ResolveWaitDeps {
  readonly runs: RunStore
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly wakeRun: WakeRun
}

/** How a wait ends, and what else belongs into that commit. */
export interface WaitResult extends Omit<ResolvedWait, 'step'> {
  /** Before everything else, so that their conflicts are found first. */
  readonly writes?: readonly Write[]
  readonly events?: (run: RunRecord) => readonly NewEvent[]
}

/**
 * Ends a wait once: the call is settled and its run, when it is suspended, is queued to go on, in one commit.
 *
 * @returns `settled`; `over` when the wait or its run had ended before; or the conflict of one of the caller's writes
 */
export type ResolveWait = (step: StepRecord, end: WaitResult) => Promise<'settled' | 'over' | CommitOutcome>

export function createResolveWait({ runs, unitOfWork, clock, wakeRun }: ResolveWaitDeps): ResolveWait {
  const tryResolve = async (
    run: RunRecord,
    step: StepRecord,
    { writes = [], events, ...how }: WaitResult,
  ): Promise<'settled' | 'over' | 'again' | CommitOutcome> => {
    const settlement = planResolution(run, [{ step, ...how }], { at: clock.now() })
    const outcome = await unitOfWork.commit([
      ...writes,
      ...settlement.writes,
      { type: 'event.append', events: [...(events?.(run) ?? []), ...settlement.events] },
    ])
    if (!outcome.committed) return MEANING[outcome.conflict.type] ?? outcome
    wakeRun(run, settlement)
    return 'settled'
  }

  return async (step, end) => {
    for (;;) {
      const run = await runs.find(step.runId, EVERY_ROW)
      if (run === undefined || isTerminal(run.status)) {
        await unitOfWork.commit([closeAbandonedWait(step, clock.now())])
        return 'over'
      }
      const result = await tryResolve(run, step, end)
      if (result !== 'again') return result
    }
  }
}

/** What a conflict says of the wait: settled by somebody else, or its run has moved on and is looked at again. */
const MEANING: { readonly [Type in WriteType]?: 'over' | 'again' } = {
  'step.change': 'over',
  'run.transition': 'again',
}

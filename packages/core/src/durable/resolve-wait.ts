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
import { isTerminal } from '../runs/run-states.ts'
import { abandonment, planSettlement, type Settling } from './wait-resolution.ts'
import type { GoOn } from './wake-run.ts'

export interface SettleWaitDeps {
  readonly runs: RunStore
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly goOn: GoOn
}

/** How a wait ends, and what else belongs into that commit. */
export interface WaitEnd extends Omit<Settling, 'step'> {
  /** Before everything else, so that their conflicts are found first. */
  readonly writes?: readonly Write[]
  readonly events?: (run: RunRecord) => readonly NewEvent[]
}

/**
 * Ends a wait once: the call is settled and its run, when it is suspended, is queued to go on, in one commit.
 *
 * @returns `settled`; `over` when the wait or its run had ended before; or the conflict of one of the caller's writes
 */
export type SettleWait = (step: StepRecord, end: WaitEnd) => Promise<'settled' | 'over' | CommitOutcome>

export function createSettleWait({ runs, unitOfWork, clock, goOn }: SettleWaitDeps): SettleWait {
  const trySettle = async (
    run: RunRecord,
    step: StepRecord,
    { writes = [], events, ...how }: WaitEnd,
  ): Promise<'settled' | 'over' | 'again' | CommitOutcome> => {
    const settlement = planSettlement(run, [{ step, ...how }], { at: clock.now() })
    const outcome = await unitOfWork.commit([
      ...writes,
      ...settlement.writes,
      { type: 'event.append', events: [...(events?.(run) ?? []), ...settlement.events] },
    ])
    if (!outcome.committed) return MEANING[outcome.conflict.type] ?? outcome
    goOn(run, settlement)
    return 'settled'
  }

  return async (step, end) => {
    for (;;) {
      const run = await runs.find(step.runId, EVERY_ROW)
      if (run === undefined || isTerminal(run.status)) {
        await unitOfWork.commit([abandonment(step, clock.now())])
        return 'over'
      }
      const result = await trySettle(run, step, end)
      if (result !== 'again') return result
    }
  }
}

/** What a conflict says of the wait: settled by somebody else, or its run has moved on and is looked at again. */
const MEANING: { readonly [Type in WriteType]?: 'over' | 'again' } = {
  'step.change': 'over',
  'run.transition': 'again',
}

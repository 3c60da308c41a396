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
import { isTerminal } from '@perdure/protocol'
import { closeAbandonedWait, planResolution, type ResolvedWait } from './wait-resolution.ts'
import type { WakeRun } from './wake-run.ts'

export interface ResolveWaitDeps {
  readonly runs: RunStore
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly wakeRun: WakeRun
}

/** How a wait ends, and what else the same commit writes. */
export interface WaitResult extends Omit<ResolvedWait, 'step'> {
  /** Applied before everything else, so that their conflicts are found first. */
  readonly writes?: readonly Write[]
  readonly events?: (run: RunRecord) => readonly NewEvent[]
}

/**
 * Ends a wait once: one commit completes the call and, if its run is suspended, queues the run again.
 *
 * @returns `resolved`; `over` when the wait or its run had already ended; or the conflict of one of the caller's writes
 */
export type ResolveWait = (step: StepRecord, end: WaitResult) => Promise<'resolved' | 'over' | CommitOutcome>

export function createResolveWait({ runs, unitOfWork, clock, wakeRun }: ResolveWaitDeps): ResolveWait {
  const tryResolve = async (
    run: RunRecord,
    step: StepRecord,
    { writes = [], events, ...how }: WaitResult,
  ): Promise<'resolved' | 'over' | 'again' | CommitOutcome> => {
    const resolution = planResolution(run, [{ step, ...how }], { at: clock.now() })
    const outcome = await unitOfWork.commit([
      ...writes,
      ...resolution.writes,
      { type: 'event.append', events: [...(events?.(run) ?? []), ...resolution.events] },
    ])
    if (!outcome.committed) return MEANING[outcome.conflict.type] ?? outcome
    wakeRun(run, resolution)
    return 'resolved'
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

/**
 * What a conflict means: another writer ended the wait, or the status of the run has changed, so the run must be read
 * again.
 */
const MEANING: { readonly [Type in WriteType]?: 'over' | 'again' } = {
  'step.change': 'over',
  'run.transition': 'again',
}

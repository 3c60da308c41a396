import type { RunRecord } from '@perdure/ports'
import type { WaitResolution } from './wait-resolution.ts'

/**
 * Continues a run after the commit that ended its wait: executes the run again if the commit queued it, otherwise
 * notifies its code.
 */
export type WakeRun = (run: RunRecord, resolution: Pick<WaitResolution, 'resumed'>) => void

export const createWakeRun =
  ({
    relaunch,
    notify,
  }: {
    readonly relaunch: (run: RunRecord) => void
    readonly notify: (runId: string) => void
  }): WakeRun =>
  (run, { resumed }) =>
    resumed === undefined ? notify(run.id) : relaunch(resumed)

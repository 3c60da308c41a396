import type { RunRecord } from '@perdure/ports'
import type { WaitResolution } from './wait-resolution.ts'

/** Lets a run go on whose waits are over: executes it again when it was queued, else tells its code. After the commit. */
export type WakeRun = (run: RunRecord, settlement: Pick<WaitResolution, 'resumed'>) => void

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

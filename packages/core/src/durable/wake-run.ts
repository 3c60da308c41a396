import type { RunRecord } from '@perdure/ports'
import type { Settlement } from './wait-resolution.ts'

/** Lets a run go on whose waits are over: executes it again when it was queued, else tells its code. After the commit. */
export type GoOn = (run: RunRecord, settlement: Pick<Settlement, 'resumed'>) => void

export const createGoOn =
  ({
    relaunch,
    notify,
  }: {
    readonly relaunch: (run: RunRecord) => void
    readonly notify: (runId: string) => void
  }): GoOn =>
  (run, { resumed }) =>
    resumed === undefined ? notify(run.id) : relaunch(resumed)

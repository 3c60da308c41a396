import type { EpochMs } from './clock.ts'
import type { LaneSlot, TakenSlot } from './lane-store.ts'

/** Writes of lanes. */
export type LaneWrite =
  /**
   * Takes the slots for the run. Conflicts when another run has taken one of them and it is not free at `now`; the
   * conflict names the first such slot. A slot that this run has taken before only gets the new `freeAt`. A slot whose
   * `freeAt` is later than the new one by more than `LANE_CLOCK_TOLERANCE_MS` is free too: it was taken before the clock
   * was set back.
   */
  | {
      readonly type: 'lane.take'
      readonly runId: string
      readonly slots: readonly LaneSlot[]
      readonly now: EpochMs
    }
  /**
   * Deletes the records of up to `limit` slots with `freeAt <= now`. Never conflicts; its count is the number of deleted
   * records.
   */
  | { readonly type: 'lane.prune'; readonly now: EpochMs; readonly limit: number }

/** The slot that could not be taken, as the other run took it. */
export interface LaneWriteConflict {
  readonly type: 'lane.take'
  readonly current?: TakenSlot | undefined
}

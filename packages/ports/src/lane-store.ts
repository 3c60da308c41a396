import type { EpochMs } from './clock.ts'

/**
 * A slot of a lane. A lane is a name and a number of slots. A run that belongs to a lane needs one of its slots to start.
 */
export interface LaneSlot {
  readonly lane: string
  readonly slot: number // from 0
  /**
   * When the slot becomes free, whatever happens to the run. Without it, the run holds the slot while it is `running`:
   * its next transition or its deletion frees the slot.
   */
  readonly freeAt?: EpochMs | undefined
}

/**
 * Servers that share a storage take slots at times of their own clocks and commit them in any order, so a slot may have
 * been taken at a time that is later than that of the next start. Only beyond this difference was a clock set back.
 */
export const LANE_CLOCK_TOLERANCE_MS = 30_000

/** A slot and the run that took it. */
export interface TakenSlot extends LaneSlot {
  readonly runId: string
}

export interface TakenSlotQuery {
  /** Slots with `freeAt <= now` are free. */
  readonly now: EpochMs
  /** Continues after this slot. */
  readonly after?: Pick<LaneSlot, 'lane' | 'slot'> | undefined
  readonly limit: number
}

/** Port. Reads the slots that are not free; `lane.take` takes them. Must pass `laneStoreContract`. */
export interface LaneStore {
  /** Lists taken slots, ordered by lane (by code point) and slot. */
  taken(query: TakenSlotQuery): Promise<readonly TakenSlot[]>
}

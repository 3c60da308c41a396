import type { LaneSlot, Storage, TakenSlot } from '@perdure/ports'
import { aRun } from '../builders.ts'
import { insertRuns } from './commits.ts'
import { at } from './optional-fields.ts'

export const NOW = at(100)

export const held = (lane: string, slot = 0): LaneSlot => ({ lane, slot })
export const timed = (lane: string, slot: number, ms: number): LaneSlot => ({ lane, slot, freeAt: at(ms) })

export const take = (runId: string, ...slots: readonly LaneSlot[]) =>
  ({ type: 'lane.take', runId, slots, now: NOW }) as const

export const taken = ({ lanes }: Storage, now = NOW): Promise<readonly TakenSlot[]> =>
  lanes.taken({ now, limit: 1_000 })

/** The slots without `freeAt` and the slots with it that a run takes, each in two lanes. */
export const HELD = [held('agent:echo'), held('key:ada', 3)]
export const TIMED = [timed('rate:echo', 0, 200), timed('rate:echo', 1, 200)]
export const ofRun = (runId: string, slots: readonly LaneSlot[]) => slots.map((slot) => ({ ...slot, runId }))

export const insertRunning = (storage: Storage, ...ids: readonly string[]) =>
  insertRuns(storage, ...ids.map((id) => aRun({ id, status: 'running' })))

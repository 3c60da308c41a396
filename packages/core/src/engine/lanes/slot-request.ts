import type { EpochMs, RunRecord, Write } from '@perdure/ports'
import type { RunTarget } from '../../targets/run-target.ts'
import type { Slot, SlotRequest } from './admission.ts'
import { concurrencyLane, type LaneRun, rateLane } from './lane.ts'

type SlotRun = Pick<RunRecord, 'id' | 'owner' | 'priority' | 'startedAt'> & LaneRun

export function slotRequestOf(target: RunTarget, run: SlotRun): SlotRequest {
  const concurrency = concurrencyLane(target, run)
  // A run counts towards its rate limit once, however often it executes.
  const rate = run.startedAt === undefined ? rateLane(target, run) : undefined
  return {
    runId: run.id,
    subject: run.owner,
    lanes: [concurrency, rate].filter((lane) => lane !== undefined),
    priority: run.priority,
    onBusy: target.onBusy,
  }
}

/** The writes by which a run takes the slots of its lanes when it starts. */
export function takeLanes(runId: string, slot: Slot, startedAt: EpochMs): readonly Write[] {
  const slots = slot.laneSlots(startedAt)
  return slots.length === 0 ? [] : [{ type: 'lane.take', runId, slots, now: startedAt }]
}

import type { Clock, TriggerRecord } from '@berth/ports'
import { type DecideDueDeps, markFailing } from './decide-due.ts'
import { eachTrigger } from './each-trigger.ts'
import { replaceTrigger } from './fire-writes.ts'
import { isScheduled, type Placement, undecidedFrom } from './schedule.ts'

/**
 * Looks for the next occurrence of every trigger again: at the start, and after the wall clock was set. What is due stays
 * due; what was decided stays decided. One that could not be computed gets another try.
 */
export async function placeAnew(deps: DecideDueDeps): Promise<void> {
  for await (const trigger of eachTrigger(deps.triggers)) {
    const isTimed = trigger.kind === 'cron' || trigger.kind === 'interval'
    if (!isTimed || !isScheduled({ ...trigger, failure: undefined })) continue
    const now = deps.clock.now()
    if (trigger.nextAt !== undefined && trigger.nextAt <= now) continue
    await place(deps, { ...trigger, failure: undefined }, trigger)
  }
}

async function place(deps: DecideDueDeps, healthy: TriggerRecord, current: TriggerRecord): Promise<void> {
  let placement: Placement
  try {
    placement = deps.schedule.placeAfter(healthy, undecidedFrom(current, deps.clock.now()))
  } catch (error) {
    if (current.failure === undefined) await markFailing(deps, current, error)
    return
  }
  const isSame = placement.nextAt === current.nextAt && placement.dueAt === current.dueAt
  if (isSame && current.failure === undefined) return
  await deps.unitOfWork.commit([replaceTrigger({ ...healthy, ...placement, version: current.version + 1 })])
}

/** A step of the wall clock, by what the monotonic one says. Milliseconds. */
const STEP_MS = 2_000

/** Answers whether the wall clock was set since the last call. */
export function watchClock(clock: Clock): () => boolean {
  let wall: number = clock.now()
  let monotonic = clock.monotonicMs()

  return () => {
    const [wallNow, monotonicNow] = [clock.now(), clock.monotonicMs()]
    const isStep = Math.abs(wallNow - wall - (monotonicNow - monotonic)) > STEP_MS
    wall = wallNow
    monotonic = monotonicNow
    return isStep
  }
}

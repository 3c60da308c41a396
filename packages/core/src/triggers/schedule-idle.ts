import { plusMs, type TriggerRecord, type TriggerStore, type UnitOfWork } from '@perdure/ports'
import { eachTrigger } from './each-trigger.ts'
import { type DecidePlacement, placeTrigger } from './place-trigger.ts'
import { isScheduled, NOT_SCHEDULED, type Schedule } from './schedule.ts'

export interface PlaceIdleDeps {
  readonly triggers: TriggerStore
  readonly unitOfWork: UnitOfWork
  readonly schedule: Schedule
}

/** Places every idle trigger. Answers whether there is any. */
export async function placeIdleTriggers(deps: PlaceIdleDeps): Promise<boolean> {
  let isAny = false
  for await (const trigger of eachTrigger(deps.triggers)) {
    if (trigger.kind !== 'idle' || !isScheduled(trigger)) continue
    isAny = true
    await placeIdle(deps, trigger)
  }
  return isAny
}

/**
 * An idle trigger occurs once for each quiet time: `idleMs` after the last run ended that was asked for, in its session or
 * on the whole server, and never while such a run is queued or running.
 */
export const placeIdle = (deps: PlaceIdleDeps, trigger: TriggerRecord): Promise<void> =>
  placeTrigger(deps, trigger, (current) => placementOf(deps, current))

async function placementOf({ triggers, schedule }: PlaceIdleDeps, trigger: TriggerRecord): ReturnType<DecidePlacement> {
  if (!isScheduled(trigger)) return undefined
  const { target, anchorAt, idleMs = 0, decidedThrough } = trigger
  const { isBusy, endedAt } = await triggers.lastActivity(target.sessionId)
  const quietSince = endedAt === undefined || endedAt < anchorAt ? anchorAt : endedAt
  const occurrence = plusMs(quietSince, idleMs)
  const isDecided = decidedThrough !== undefined && occurrence <= decidedThrough
  const placement = isBusy || isDecided ? NOT_SCHEDULED : schedule.place(trigger, occurrence)
  return placement.nextAt === trigger.nextAt && placement.dueAt === trigger.dueAt ? undefined : placement
}

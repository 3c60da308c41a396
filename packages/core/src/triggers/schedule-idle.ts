import { plusMs, type TriggerOf, type TriggerRecord, type TriggerStore, type UnitOfWork } from '@perdure/ports'
import { eachTrigger } from './each-trigger.ts'
import { type FindNextOccurrence, rescheduleTrigger } from './reschedule-trigger.ts'
import { isScheduled, NOT_SCHEDULED, type Schedule } from './schedule.ts'

export interface ScheduleIdleDeps {
  readonly triggers: TriggerStore
  readonly unitOfWork: UnitOfWork
  readonly schedule: Schedule
}

/** Whether the occurrences of the trigger follow from the activity of runs. */
export const isIdleKind = (trigger: TriggerRecord): trigger is TriggerOf<'idle'> => trigger.kind === 'idle'

/** Schedules every idle trigger. @returns whether there is any idle trigger */
export async function scheduleIdleTriggers(deps: ScheduleIdleDeps): Promise<boolean> {
  let hasIdleTrigger = false
  for await (const trigger of eachTrigger(deps.triggers)) {
    if (!isIdleKind(trigger) || !isScheduled(trigger)) continue
    hasIdleTrigger = true
    await scheduleIdle(deps, trigger)
  }
  return hasIdleTrigger
}

/**
 * Schedules one idle trigger. The trigger occurs once in each quiet period: `idleMs` after the end of the last run that
 * a client started, and never while such a run is queued or running. A trigger whose target names a session considers
 * only the runs of that session; any other trigger considers all runs of the server.
 */
export const scheduleIdle = (deps: ScheduleIdleDeps, trigger: TriggerRecord): Promise<void> =>
  rescheduleTrigger(deps, trigger, (current) => idleOccurrenceOf(deps, current))

async function idleOccurrenceOf(
  { triggers, schedule }: ScheduleIdleDeps,
  trigger: TriggerRecord,
): ReturnType<FindNextOccurrence> {
  if (!isIdleKind(trigger) || !isScheduled(trigger)) return undefined
  const { target, anchorAt, idleMs, decidedThrough } = trigger
  const { isBusy, endedAt } = await triggers.lastActivity(target.sessionId)
  const quietSince = endedAt === undefined || endedAt < anchorAt ? anchorAt : endedAt
  const occurrence = plusMs(quietSince, idleMs)
  const isDecided = decidedThrough !== undefined && occurrence <= decidedThrough
  const next = isBusy || isDecided ? NOT_SCHEDULED : schedule.toNextOccurrence(trigger, occurrence)
  return next.nextAt === trigger.nextAt && next.dueAt === trigger.dueAt ? undefined : next
}

import type { TriggerRecord } from '@perdure/ports'
import { type DecideDueDeps, markFailing } from './decide-due.ts'
import { eachTrigger } from './each-trigger.ts'
import { kindOf } from './kinds/trigger-kinds.ts'
import { type FindNextOccurrence, rescheduleTrigger } from './reschedule-trigger.ts'
import { isScheduled, undecidedFrom } from './schedule.ts'

/**
 * Recomputes the next occurrence of every trigger, when the server starts and after the wall clock was changed. Due
 * occurrences stay due, and decided occurrences stay decided. Retries triggers whose occurrences could not be computed.
 */
export async function rescheduleAll(deps: DecideDueDeps): Promise<void> {
  for await (const trigger of eachTrigger(deps.triggers)) {
    await rescheduleTrigger(deps, trigger, (current) => nextOccurrenceOf(deps, current))
  }
}

async function nextOccurrenceOf(deps: DecideDueDeps, trigger: TriggerRecord): ReturnType<FindNextOccurrence> {
  const healthy = { ...trigger, failure: undefined }
  if (kindOf(trigger).source !== 'clock' || !isScheduled(healthy)) return undefined
  const now = deps.clock.now()
  if (trigger.nextAt !== undefined && trigger.nextAt <= now) return undefined
  try {
    await deps.schedule.ready(trigger)
    const { nextAt, dueAt } = deps.schedule.occurrenceAfter(healthy, undecidedFrom(trigger, now))
    const isSame = nextAt === trigger.nextAt && dueAt === trigger.dueAt && trigger.failure === undefined
    return isSame ? undefined : { nextAt, dueAt, failure: undefined }
  } catch (error) {
    if (trigger.failure === undefined) await markFailing(deps, trigger, error)
    return undefined
  }
}

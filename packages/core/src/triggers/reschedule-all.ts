import type { Clock, TriggerRecord } from '@perdure/ports'
import { type DecideDueDeps, markFailing } from './decide-due.ts'
import { eachTrigger } from './each-trigger.ts'
import { type DecidePlacement, placeTrigger } from './place-trigger.ts'
import { isScheduled, undecidedFrom } from './schedule.ts'

/**
 * Looks for the next occurrence of every trigger again: at the start, and after the wall clock was set. What is due stays
 * due; what was decided stays decided. One that could not be computed gets another try.
 */
export async function placeAnew(deps: DecideDueDeps): Promise<void> {
  for await (const trigger of eachTrigger(deps.triggers)) {
    await placeTrigger(deps, trigger, (current) => placementOf(deps, current))
  }
}

async function placementOf(deps: DecideDueDeps, trigger: TriggerRecord): ReturnType<DecidePlacement> {
  const healthy = { ...trigger, failure: undefined }
  const isTimed = trigger.kind === 'cron' || trigger.kind === 'interval'
  if (!isTimed || !isScheduled(healthy)) return undefined
  const now = deps.clock.now()
  if (trigger.nextAt !== undefined && trigger.nextAt <= now) return undefined
  try {
    await deps.schedule.ready(trigger)
    const { nextAt, dueAt } = deps.schedule.placeAfter(healthy, undecidedFrom(trigger, now))
    const isSame = nextAt === trigger.nextAt && dueAt === trigger.dueAt && trigger.failure === undefined
    return isSame ? undefined : { nextAt, dueAt, failure: undefined }
  } catch (error) {
    if (trigger.failure === undefined) await markFailing(deps, trigger, error)
    return undefined
  }
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

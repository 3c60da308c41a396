import type { EpochMs, FireRecord, TriggerRecord, Write } from '@perdure/ports'
import type { NextOccurrence } from './schedule.ts'
import { appendEvents, type TriggerEventType, triggerEvent } from './trigger-events.ts'

/** The trigger after a fire; `next` is the occurrence to schedule now. */
export function applyFire(trigger: TriggerRecord, fire: FireRecord, next: NextOccurrence): TriggerRecord {
  const isStarted = fire.status === 'started'
  return {
    ...trigger,
    ...next,
    decidedThrough:
      fire.cause === 'schedule' ? laterOf(trigger.decidedThrough, fire.scheduledAt) : trigger.decidedThrough,
    lastFireId: fire.id,
    lastStatus: fire.status,
    lastFireAt: isStarted ? fire.firedAt : trigger.lastFireAt,
    fireCount: trigger.fireCount + (isStarted ? 1 : 0),
    version: trigger.version + 1,
  }
}

const laterOf = (one: EpochMs | undefined, other: EpochMs): EpochMs => (one === undefined || one < other ? other : one)

export const replaceTrigger = (trigger: TriggerRecord): Write => ({ type: 'trigger.replace', trigger })

/** @param maxPending refuses the fire if that many fires of its trigger are pending */
export const insertFire = (fire: FireRecord, maxPending?: number): Write => ({ type: 'fire.insert', fire, maxPending })

export const changeFire = ({ id, status, firedAt, runId, reason }: FireRecord, from: FireRecord['status']): Write => ({
  type: 'fire.change',
  id,
  from,
  change: { status, firedAt, runId, reason },
})

const EVENT_OF = {
  started: 'trigger.fired',
  skipped: 'trigger.skipped',
  missed: 'trigger.missed',
  failed: 'trigger.failed',
} as const satisfies Partial<Record<FireRecord['status'], TriggerEventType>>

/**
 * Appends the event for the status of a fire to the subject of its trigger; a pending or completed fire has no event.
 */
export function fireEvents(fire: FireRecord, at: EpochMs): Write {
  const { id, triggerId, scheduledAt, runId, reason, status } = fire
  if (status === 'pending' || status === 'completed') return appendEvents()
  return appendEvents(triggerEvent(triggerId, EVENT_OF[status], { at, fireId: id, scheduledAt, runId, reason }))
}

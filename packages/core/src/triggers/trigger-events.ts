import type { EpochMs, NewEvent, Write } from '@perdure/ports'
import { toJsonText } from '@perdure/ports'
import { formatSubject } from '@perdure/protocol'

export type TriggerEventType =
  | 'trigger.fired'
  | 'trigger.skipped'
  | 'trigger.missed'
  | 'trigger.failed'
  | 'trigger.disabled'
  | 'trigger.enabled'

export interface TriggerEventDetail {
  readonly at: EpochMs
  readonly fireId?: string | undefined
  readonly scheduledAt?: EpochMs | undefined
  readonly runId?: string | undefined
  readonly reason?: string | undefined
}

/** An event on the subject of the trigger. */
export function triggerEvent(triggerId: string, type: TriggerEventType, detail: TriggerEventDetail): NewEvent {
  const { at, fireId, scheduledAt, runId, reason } = detail
  return {
    topic: formatSubject('trigger', { triggerId }),
    type,
    payload: toJsonText({ triggerId, fireId, scheduledAt: scheduledAt && toIso(scheduledAt), runId, reason }),
    at,
  }
}

export const appendEvents = (...events: readonly NewEvent[]): Write => ({ type: 'event.append', events })

export const toIso = (at: EpochMs): string => new Date(at).toISOString()

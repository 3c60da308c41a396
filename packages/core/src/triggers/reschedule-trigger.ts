import type { TriggerRecord, TriggerStore, UnitOfWork } from '@perdure/ports'
import { replaceTrigger } from './fire-writes.ts'
import type { NextOccurrence } from './schedule.ts'

export interface RescheduleTriggerDeps {
  readonly triggers: TriggerStore
  readonly unitOfWork: UnitOfWork
}

/** The next occurrence to store; `undefined` leaves the trigger unchanged. */
export type FindNextOccurrence = (
  trigger: TriggerRecord,
) => Promise<(NextOccurrence & Pick<TriggerRecord, 'failure'>) | undefined>

/**
 * Stores the next occurrence of a trigger. If the trigger was changed in the meantime, starts over with the new record,
 * any number of times.
 */
export async function rescheduleTrigger(
  { triggers, unitOfWork }: RescheduleTriggerDeps,
  trigger: TriggerRecord,
  decide: FindNextOccurrence,
): Promise<void> {
  for (let current: TriggerRecord | undefined = trigger; current !== undefined; ) {
    const next = await decide(current)
    if (next === undefined) return
    const replaced = replaceTrigger({ ...current, ...next, version: current.version + 1 })
    if ((await unitOfWork.commit([replaced])).committed) return
    current = await triggers.find(trigger.id)
  }
}

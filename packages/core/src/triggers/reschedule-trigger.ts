import type { TriggerRecord, TriggerStore, UnitOfWork } from '@perdure/ports'
import { replaceTrigger } from './fire-writes.ts'
import type { Placement } from './schedule.ts'

export interface PlaceTriggerDeps {
  readonly triggers: TriggerStore
  readonly unitOfWork: UnitOfWork
}

/** Where a trigger occurs next; nothing when it stays as it is. */
export type DecidePlacement = (
  trigger: TriggerRecord,
) => Promise<(Placement & Pick<TriggerRecord, 'failure'>) | undefined>

/** Writes where a trigger occurs next; decides again when it was changed after it was read, until it is gone. */
export async function placeTrigger(
  { triggers, unitOfWork }: PlaceTriggerDeps,
  trigger: TriggerRecord,
  decide: DecidePlacement,
): Promise<void> {
  for (let current: TriggerRecord | undefined = trigger; current !== undefined; ) {
    const placement = await decide(current)
    if (placement === undefined) return
    const placed = replaceTrigger({ ...current, ...placement, version: current.version + 1 })
    if ((await unitOfWork.commit([placed])).committed) return
    current = await triggers.find(trigger.id)
  }
}

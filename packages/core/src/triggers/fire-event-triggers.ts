import {
  type Clock,
  definedMembers,
  type EpochMs,
  type FireRecord,
  type FireStore,
  type IdGenerator,
  type JsonText,
  type TriggerRecord,
  type TriggerStore,
  type Write,
} from '@perdure/ports'
import { fireEvents, insertFire } from './fire-writes.ts'
import { countPending, MAX_PENDING } from './live-fires.ts'
import { isExpired } from './schedule.ts'

export interface FireEventTriggersDeps {
  readonly triggers: TriggerStore
  readonly fires: FireStore
  readonly ids: IdGenerator
  readonly clock: Clock
  /** Wakes the daemon to start the runs of pending fires. */
  readonly wake: () => void
}

/** What fires triggers from outside. */
interface Occurrence {
  readonly payload: JsonText
  /** The session of the runs whose target has none. */
  readonly sessionId?: string | undefined
  readonly at: EpochMs
}

/** A named event that was accepted. */
export interface NamedEvent extends Occurrence {
  readonly name: string
}

/** The fires of an event, to be committed together with the event itself. */
export interface EventFires {
  /** One fire for each trigger of the event. */
  readonly writes: readonly Write[]
  readonly fires: readonly Pick<FireRecord, 'id' | 'triggerId'>[]
  /** Starts the runs of the fires. Must be called after the writes are committed. */
  onCommitted(): void
}

/**
 * Creates the fires of the triggers that listen for an event. May be called again until the commit succeeds. The fires
 * are durable with the commit of `writes`; their runs are started afterwards, if necessary after a restart.
 */
export type FireEventTriggers = (event: NamedEvent) => Promise<EventFires>

export function createFireEventTriggers(deps: FireEventTriggersDeps): FireEventTriggers {
  return async (event) => {
    const matching = await listMatching((part) => deps.triggers.listByEvent(event.name, part), event.at)
    return planFires(deps, matching, event)
  }
}

/** A delivery that a hook has accepted. */
export interface AcceptedDelivery extends Occurrence {
  readonly hookId: string
}

/** Like `FireEventTriggers`, for the triggers of the hook that has received a delivery. */
export type FireHookTriggers = (delivery: AcceptedDelivery) => Promise<EventFires>

export const createFireHookTriggers =
  (deps: FireEventTriggersDeps): FireHookTriggers =>
  async (delivery) => {
    const matching = await listMatching((part) => deps.triggers.listByHook(delivery.hookId, part), delivery.at)
    return planFires(deps, matching, delivery)
  }

async function planFires(
  deps: FireEventTriggersDeps,
  matching: readonly MatchingTrigger[],
  occurrence: Occurrence,
): Promise<EventFires> {
  const planned = await Promise.all(
    matching.map(async (trigger) => ({ trigger, fire: await newFire(deps, trigger, occurrence) })),
  )
  const fires = planned.map(({ fire }) => fire)
  return {
    writes: planned.flatMap(({ trigger, fire }) => [
      insertFire(fire, fire.status === 'pending' && trigger.overlap === 'queue' ? MAX_PENDING : undefined),
      fireEvents(fire, occurrence.at),
    ]),
    fires,
    onCommitted: () => (fires.length > 0 ? deps.wake() : undefined),
  }
}

type MatchingTrigger = Pick<TriggerRecord, 'id' | 'overlap'>

const PAGE = 200

/** Reads page by page and drops the definitions, because a trigger may hold a long input. */
async function listMatching(
  read: (part: {
    readonly after: string | undefined
    readonly limit: number
  }) => ReturnType<TriggerStore['listByEvent']>,
  at: EpochMs,
): Promise<readonly MatchingTrigger[]> {
  const matching: MatchingTrigger[] = []
  for (let after: string | undefined; ; ) {
    const page = await read({ after, limit: PAGE })
    after = page.at(-1)?.id
    if (after === undefined) return matching
    for (const trigger of page) {
      if (!isExpired(trigger, at)) matching.push({ id: trigger.id, overlap: trigger.overlap })
    }
  }
}

async function newFire(deps: FireEventTriggersDeps, trigger: MatchingTrigger, event: Occurrence): Promise<FireRecord> {
  const fire = {
    ...{ id: deps.ids.newId('fire'), triggerId: trigger.id, scheduledAt: event.at },
    cause: 'event' as const,
    input: event.payload,
    ...definedMembers({ sessionId: event.sessionId }),
    createdAt: deps.clock.now(),
  }
  const isFull = trigger.overlap === 'queue' && (await countPending(deps, trigger.id)) >= MAX_PENDING
  if (!isFull) return { ...fire, status: 'pending' }
  return { ...fire, status: 'skipped', reason: `overlap: ${MAX_PENDING} fires are already queued` }
}

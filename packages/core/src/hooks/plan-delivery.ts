import { type Clock, definedMembers, type EpochMs, type HookOutcome, type Write } from '@perdure/ports'
import type { EventFires, FireHookTriggers } from '../triggers/fire-event-triggers.ts'
import type { EmissionTurn } from '../workflows/emission-turns.ts'
import type { EventPlan, PlanEvent } from '../workflows/plan-event.ts'
import type { HookIntent } from './read-delivery.ts'

export interface PlanDeliveryDeps {
  readonly planEvent: PlanEvent
  readonly fireHookTriggers: FireHookTriggers
  readonly clock: Clock
}

export interface DeliveryPlan {
  readonly outcome: HookOutcome
  readonly writes: readonly Write[]
  /** Must be called after the writes are committed. */
  onCommitted(): Promise<void>
}

interface PlanDelivery {
  readonly hookId: string
  readonly intent: HookIntent
  /** How many attempts to commit the plan have met a write conflict. */
  readonly conflicts: number
  readonly turn: EmissionTurn
}

/** Plans what a delivery starts, to be committed together with the delivery. */
export async function planDelivery(
  { planEvent, fireHookTriggers, clock }: PlanDeliveryDeps,
  { hookId, intent, conflicts, turn }: PlanDelivery,
): Promise<DeliveryPlan> {
  const at = clock.now()
  if (intent.kind !== 'start') {
    const { kind: status, reason } = intent
    return { outcome: { status, reason, fireIds: [], handledAt: at }, writes: [], onCommitted: async () => undefined }
  }
  const { payload, sessionId, events, reason } = intent
  const fires = await fireHookTriggers({ hookId, payload, sessionId, at })
  const plans: EventPlan[] = []
  for (const name of events) plans.push(await planEvent({ name, payload, at }, { conflicts, turn }))
  return {
    outcome: { ...outcomeOf(fires, events, at), ...definedMembers({ reason }) },
    writes: [...fires.writes, ...plans.flatMap(({ writes }) => writes)],
    async onCommitted() {
      fires.onCommitted()
      for (const plan of plans) await plan.onCommitted()
    },
  }
}

function outcomeOf({ fires }: EventFires, events: readonly string[], handledAt: EpochMs): HookOutcome {
  const fireIds = fires.map(({ id }) => id)
  const event = events.at(-1)
  if (event !== undefined) return { status: 'accepted', event, fireIds, handledAt }
  if (fireIds.length > 0) return { status: 'accepted', fireIds, handledAt }
  return { status: 'ignored', reason: 'no trigger of the hook is enabled', fireIds, handledAt }
}

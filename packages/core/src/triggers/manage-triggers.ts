import type { EpochMs, TriggerRecord, TriggerStore, Write } from '@perdure/ports'
import { auditWrite } from '../audit/audit-write.ts'
import { requireAudit } from '../audit/require-audit.ts'
import type { Principal } from '../auth/principal.ts'
import { type CommitOnceDeps, commitOnce, type Decision } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { eachTrigger } from './each-trigger.ts'
import { replaceTrigger } from './fire-writes.ts'
import { findTrigger } from './read-triggers.ts'
import { NOT_SCHEDULED, type Schedule, undecidedFrom } from './schedule.ts'
import { appendEvents, type TriggerEventType, triggerEvent } from './trigger-events.ts'
import { statusOf, toTriggerResource } from './trigger-resource.ts'

export interface ManageTriggersDeps extends CommitOnceDeps {
  readonly triggers: TriggerStore
  readonly schedule: Schedule
  /** Wakes the daemon to pick up the change. */
  readonly wake: () => void
}

export interface TriggerCall {
  readonly triggerId: string
  readonly principal: Principal
  readonly key?: KeyedRequest | undefined
}

/** Administers triggers. Each operation is one commit that includes its event and its audit entry. */
export interface ManageTriggers {
  /**
   * Deletes a trigger and its fires; runs that the trigger has started continue.
   * @throws PerdureError `trigger-not-found`, `audit-unavailable`
   */
  remove(call: TriggerCall): Promise<Reply>
  /**
   * Schedules the trigger from now on. Occurrences that were due while the trigger was disabled are neither fired nor
   * counted as missed.
   * @throws PerdureError `trigger-not-found`, `audit-unavailable`
   */
  enable(call: TriggerCall): Promise<Reply>
  /**
   * Stops scheduling the trigger, which can still be fired by hand. Pending fires are skipped.
   * @throws PerdureError `trigger-not-found`, `audit-unavailable`
   */
  disable(call: TriggerCall): Promise<Reply>
  /** Deletes disabled, expired and orphaned triggers. @throws PerdureError `audit-unavailable` */
  prune(call: Omit<TriggerCall, 'triggerId'>): Promise<Reply>
}

export function createManageTriggers(deps: ManageTriggersDeps): ManageTriggers {
  const { triggers, schedule, clock, wake } = deps

  const once = async (key: KeyedRequest | undefined, decide: () => Promise<Decision>): Promise<Reply> => {
    const outcome = await requireAudit(() => commitOnce(deps, key, decide))
    if (outcome.kind === 'replayed') return outcome.reply
    wake()
    return outcome.decision.reply
  }

  const change = ({ triggerId, principal, key }: TriggerCall, isEnabled: boolean) =>
    once(key, async () => {
      const trigger = await findTrigger(triggers, triggerId)
      await schedule.ready(trigger)
      const at = clock.now()
      const { action, event, apply } = isEnabled ? ENABLE : DISABLE
      const isUnchanged = trigger.enabled === isEnabled && trigger.failure === undefined
      const changed = isUnchanged ? trigger : apply(trigger, schedule, at)
      const writes = [replaceTrigger(changed), appendEvents(triggerEvent(triggerId, event, { at }))]
      return {
        writes: [...(isUnchanged ? [] : writes), auditWrite(principal, { at, action, target: triggerId })],
        reply: { status: 200, body: toTriggerResource(changed, at) },
        remember: true,
      }
    })

  return {
    remove: ({ triggerId, principal, key }) =>
      once(key, async () => {
        await findTrigger(triggers, triggerId)
        return {
          writes: removalWrites(triggerId, principal, { at: clock.now(), action: 'triggers.delete' }),
          reply: { status: 204 },
          remember: true,
        }
      }),
    enable: (call) => change(call, true),
    disable: (call) => change(call, false),
    prune: ({ principal, key }) =>
      once(key, async () => {
        const at = clock.now()
        const pruned: string[] = []
        for await (const trigger of eachTrigger(triggers)) if (isPrunable(trigger, at)) pruned.push(trigger.id)
        return {
          writes: pruned.flatMap((id) => removalWrites(id, principal, { at, action: 'triggers.prune' })),
          reply: { status: 200, body: { pruned } },
          remember: true,
        }
      }),
  }
}

interface Toggle {
  readonly action: string
  readonly event: TriggerEventType
  apply(trigger: TriggerRecord, schedule: Schedule, at: EpochMs): TriggerRecord
}

const ENABLE: Toggle = {
  action: 'triggers.enable',
  event: 'trigger.enabled',
  apply(trigger, schedule, at) {
    const next = { ...trigger, enabled: true, failure: undefined, anchorAt: at, version: trigger.version + 1 }
    return { ...next, ...schedule.occurrenceAfter(next, undecidedFrom(next, at)) }
  },
}

const DISABLE: Toggle = {
  action: 'triggers.disable',
  event: 'trigger.disabled',
  apply: (trigger) => ({
    ...trigger,
    ...NOT_SCHEDULED,
    enabled: false,
    failure: undefined,
    version: trigger.version + 1,
  }),
}

const removalWrites = (
  id: string,
  principal: Principal,
  { at, action }: { readonly at: EpochMs; readonly action: string },
): readonly Write[] => [{ type: 'trigger.delete', id }, auditWrite(principal, { at, action, target: id })]

function isPrunable(trigger: TriggerRecord, now: EpochMs): boolean {
  const status = statusOf(trigger, now)
  return status === 'disabled' || status === 'expired' || status === 'orphaned'
}

import { EVERY_ROW, type RunStore, toJsonText, type Visibility } from '@perdure/ports'
import { readableTriggers } from '../auth/authorize.ts'
import type { Principal } from '../auth/principal.ts'
import { checkEventName } from '../durable/event-name.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import type { EventFires } from '../triggers/fire-event-triggers.ts'
import type { EmissionTurn } from './emission-turns.ts'
import type { PlanEvent } from './plan-event.ts'

export interface EmitEventDeps extends CommitOnceDeps {
  readonly runs: RunStore
  readonly planEvent: PlanEvent
}

export interface EmitEventRequest {
  readonly name: string
  readonly payload?: unknown
  /**
   * Delivers the event only to this run and fires no triggers. If missing, every run waiting for the name receives it.
   */
  readonly runId?: string
  /** The caller, whose answer lists only what it may see. If missing, the answer lists everything. */
  readonly caller?: { readonly principal: Principal; readonly runs: Visibility } | undefined
  readonly key?: KeyedRequest | undefined
}

/**
 * Resumes, exactly once, every run that is waiting for the named event now; later waiters do not receive the event. The
 * effects of the event, or the durable plan to deliver it, are committed together with the idempotency record: a retry
 * has no further effect.
 *
 * @throws PerdureError `validation-failed` for an invalid event name; `idempotency-conflict`
 */
export type EmitEvent = (request: EmitEventRequest) => Promise<Reply>

/** Maximum waiting runs that an answer considers. The event wakes the others too. */
const MAX_LISTED = 1_000

export function createEmitEvent(deps: EmitEventDeps): EmitEvent {
  const { clock, planEvent } = deps

  const emit = async ({ name, payload, runId, caller, key }: EmitEventRequest, turn: EmissionTurn): Promise<Reply> => {
    const text = toJsonText(payload ?? null)
    let conflicts = 0
    let onCommitted: () => Promise<void> | void = () => undefined
    const result = await commitOnce(deps, key, async () => {
      const plan = await planEvent({ name, payload: text, at: clock.now() }, { runId, conflicts, turn })
      conflicts += 1
      onCommitted = plan.onCommitted
      const listed = plan.runIds.slice(0, MAX_LISTED)
      const wokenRunIds = await visibleRunIds(deps, listed, caller?.runs ?? EVERY_ROW)
      return {
        writes: plan.writes,
        reply: { status: 202, body: { name, wokenRunIds, fireIds: visibleFireIds(plan, caller?.principal) } },
        remember: true,
      }
    })
    if (result.kind === 'replayed') return result.reply
    await onCommitted()
    return result.decision.reply
  }

  return async (request) => {
    checkEventName(request.name)
    return planEvent.inTurn((turn) => emit(request, turn))
  }
}

async function visibleRunIds(
  { runs }: { readonly runs: RunStore },
  ids: readonly string[],
  visibility: Visibility,
): Promise<readonly string[]> {
  if (visibility === EVERY_ROW) return ids
  const visible: string[] = []
  for (const id of ids) if ((await runs.find(id, visibility)) !== undefined) visible.push(id)
  return visible
}

function visibleFireIds({ fires }: Pick<EventFires, 'fires'>, principal: Principal | undefined): readonly string[] {
  const access = principal === undefined ? EVERY_ROW : readableTriggers(principal)
  return fires.filter(({ triggerId }) => access === EVERY_ROW || access.ids?.includes(triggerId)).map(({ id }) => id)
}

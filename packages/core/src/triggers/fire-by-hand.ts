import type { Clock, FireRecord, IdGenerator, Write } from '@perdure/ports'
import { auditWrite } from '../audit/audit-write.ts'
import { requireAudit } from '../audit/require-audit.ts'
import type { Reply } from '../idempotency/reply.ts'
import { countFires } from './decide-due.ts'
import { applyFire, fireEvents, insertFire, replaceTrigger } from './fire-writes.ts'
import type { TriggerCall } from './manage-triggers.ts'
import { findTrigger } from './read-triggers.ts'
import { type StartFireDeps, startFire } from './start-fire.ts'

export interface FireByHandDeps extends StartFireDeps {
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly basePath: string
}

/**
 * Fires a trigger now, even if it is disabled or its previous run has not ended. Answers with the ids of the fire and
 * the run.
 *
 * @throws PerdureError `trigger-not-found`, `audit-unavailable`, and the errors of `StartRun`
 */
export type FireByHand = (call: TriggerCall & { readonly traceparent?: string | undefined }) => Promise<Reply>

export function createFireByHand(deps: FireByHandDeps): FireByHand {
  const { triggers, clock, ids, basePath } = deps

  return async ({ triggerId, principal, key, traceparent }) => {
    const trigger = await findTrigger(triggers, triggerId)
    const at = clock.now()
    const fire: FireRecord = {
      ...{ id: ids.newId('fire'), triggerId, scheduledAt: at, createdAt: at },
      ...{ cause: 'manual', status: 'pending' },
    }
    const writes = async (started: FireRecord): Promise<readonly Write[]> => {
      const current = await findTrigger(triggers, triggerId)
      return [
        replaceTrigger(applyFire(current, started, { nextAt: current.nextAt, dueAt: current.dueAt })),
        insertFire(started),
        fireEvents(started, at),
        auditWrite(principal, { at, action: 'triggers.fire', target: triggerId, detail: { fireId: fire.id } }),
      ]
    }
    const reply = await requireAudit(() =>
      startFire(deps, {
        ...{ trigger, fire, writes, key, traceparent, at },
        reply: ({ id }) => ({
          status: 202,
          body: { fireId: fire.id, runId: id },
          location: `${basePath}/runs/${id}`,
          runId: id,
        }),
      }),
    )
    if (reply.replayed !== true) countFires(deps, trigger, { status: 'started' })
    return reply
  }
}

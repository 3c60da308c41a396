import type { EpochMs, FireRecord, TriggerRecord, Write } from '@perdure/ports'
import { countFires, type DecideDueDeps } from './decide-due.ts'
import { applyFire, changeFire, fireEvents, replaceTrigger } from './fire-writes.ts'
import { hasLiveRun, OVERLAP_REASON } from './live-fires.ts'
import { isExpired } from './schedule.ts'
import { refusalOf, startUnlessSuperseded } from './start-fire.ts'

/**
 * `waits`: the fire waits for a run of the trigger to end. `later`: the fire cannot start now, for example because the
 * queue is full.
 */
export type PendingProgress = 'done' | 'waits' | 'later'

/**
 * Starts the run of a pending fire. A fire is pending because an event created it or because it was queued behind an
 * earlier run of its trigger. The idempotency key and the status of the fire ensure that its run is started only once.
 */
export async function startPending(deps: DecideDueDeps, { id }: FireRecord): Promise<PendingProgress> {
  const fire = await deps.fires.find(id)
  const trigger = fire === undefined ? undefined : await deps.triggers.find(fire.triggerId)
  if (fire?.status !== 'pending' || trigger === undefined) return 'done'
  const now = deps.clock.now()
  const reason = skipReasonOf(trigger, now)
  if (reason !== undefined) return commitOutcome(deps, trigger, { ...fire, status: 'skipped', reason })
  if (trigger.overlap !== 'allow' && (await hasLiveRun(deps, trigger.id))) {
    if (trigger.overlap === 'queue') return 'waits'
    return commitOutcome(deps, trigger, { ...fire, status: 'skipped', reason: OVERLAP_REASON })
  }
  return start(deps, { fire, trigger, now })
}

function skipReasonOf(trigger: TriggerRecord, now: EpochMs): string | undefined {
  if (!trigger.enabled) return 'the trigger was disabled'
  if (trigger.orphanedAt !== undefined) return 'the trigger is no longer declared'
  return isExpired(trigger, now) ? 'the trigger has expired' : undefined
}

interface PendingStart {
  readonly fire: FireRecord
  readonly trigger: TriggerRecord
  readonly now: EpochMs
}

async function start(deps: DecideDueDeps, { fire, trigger, now }: PendingStart): Promise<PendingProgress> {
  try {
    const writes = async (started: FireRecord) => outcomeWrites(trigger, started, now)
    const outcome = await startUnlessSuperseded(deps, { trigger, fire, at: now, writes })
    // The trigger or the fire changed after it was read, so start over.
    if (outcome === 'superseded') return startPending(deps, fire)
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal.kind === 'later') return 'later'
    return commitOutcome(deps, trigger, { ...fire, status: refusal.status, reason: refusal.reason, firedAt: now })
  }
  countFires(deps, trigger, { status: 'started' })
  return 'done'
}

async function commitOutcome(
  deps: DecideDueDeps,
  trigger: TriggerRecord,
  decided: FireRecord,
): Promise<PendingProgress> {
  const outcome = await deps.unitOfWork.commit(outcomeWrites(trigger, decided, deps.clock.now()))
  if (!outcome.committed) return startPending(deps, decided)
  countFires(deps, trigger, { status: decided.status })
  return 'done'
}

const outcomeWrites = (trigger: TriggerRecord, decided: FireRecord, now: EpochMs): readonly Write[] => [
  replaceTrigger(applyFire(trigger, decided, { nextAt: trigger.nextAt, dueAt: trigger.dueAt })),
  changeFire(decided, 'pending'),
  fireEvents(decided, now),
]

import type { EpochMs, FireRecord, TriggerRecord, Write } from '@perdure/ports'
import { count, type DecideDueDeps } from './decide-due.ts'
import { afterFire, changeFire, fireEvents, replaceTrigger } from './fire-writes.ts'
import { hasLiveRun, OVERLAP } from './live-fires.ts'
import { isExpired } from './schedule.ts'
import { refusalOf, startUnlessSuperseded } from './start-fire.ts'

/** `waits` for a run of the trigger to end; `later` for a place. */
export type PendingProgress = 'done' | 'waits' | 'later'

/**
 * Starts the run of a fire that was decided before: an event's, or one that waited for its trigger's last run. Its own key
 * and its status see to it that it is started once.
 */
export async function startPending(deps: DecideDueDeps, { id }: FireRecord): Promise<PendingProgress> {
  const fire = await deps.fires.find(id)
  const trigger = fire === undefined ? undefined : await deps.triggers.find(fire.triggerId)
  if (fire?.status !== 'pending' || trigger === undefined) return 'done'
  const now = deps.clock.now()
  const reason = reasonToDrop(trigger, now)
  if (reason !== undefined) return settle(deps, trigger, { ...fire, status: 'skipped', reason })
  if (trigger.overlap !== 'allow' && (await hasLiveRun(deps, trigger.id))) {
    if (trigger.overlap === 'queue') return 'waits'
    return settle(deps, trigger, { ...fire, status: 'skipped', reason: OVERLAP })
  }
  return start(deps, { fire, trigger, now })
}

function reasonToDrop(trigger: TriggerRecord, now: EpochMs): string | undefined {
  if (!trigger.enabled) return 'the trigger was disabled'
  if (trigger.orphanedAt !== undefined) return 'the trigger is not declared any more'
  return isExpired(trigger, now) ? 'the trigger has expired' : undefined
}

interface Starting {
  readonly fire: FireRecord
  readonly trigger: TriggerRecord
  readonly now: EpochMs
}

async function start(deps: DecideDueDeps, { fire, trigger, now }: Starting): Promise<PendingProgress> {
  try {
    const writes = async (started: FireRecord) => record(trigger, started, now)
    const outcome = await startUnlessSuperseded(deps, { trigger, fire, at: now, writes })
    // Somebody changed the trigger or decided the fire after they were read: look again.
    if (outcome === 'superseded') return startPending(deps, fire)
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal.kind === 'later') return 'later'
    return settle(deps, trigger, { ...fire, status: refusal.status, reason: refusal.reason, firedAt: now })
  }
  count(deps, trigger, { status: 'started' })
  return 'done'
}

async function settle(deps: DecideDueDeps, trigger: TriggerRecord, decided: FireRecord): Promise<PendingProgress> {
  const outcome = await deps.unitOfWork.commit(record(trigger, decided, deps.clock.now()))
  if (!outcome.committed) return startPending(deps, decided)
  count(deps, trigger, { status: decided.status })
  return 'done'
}

const record = (trigger: TriggerRecord, decided: FireRecord, now: EpochMs): readonly Write[] => [
  replaceTrigger(afterFire(trigger, decided, { nextAt: trigger.nextAt, dueAt: trigger.dueAt })),
  changeFire(decided, 'pending'),
  fireEvents(decided, now),
]

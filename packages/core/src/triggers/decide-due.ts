import type {
  Clock,
  EpochMs,
  FireRecord,
  FireStore,
  IdGenerator,
  Logger,
  Meter,
  SessionStore,
  Tracer,
  TriggerRecord,
  TriggerStore,
  UnitOfWork,
  Write,
} from '@perdure/ports'
import type { StartRun } from '../engine/start-run.ts'
import { applyFire, fireEvents, insertFire, replaceTrigger } from './fire-writes.ts'
import { countPending, hasLiveRun, type LiveFiresDeps, MAX_PENDING, OVERLAP_REASON } from './live-fires.ts'
import { nextDecision, type TriggerDecision } from './next-decision.ts'
import { isScheduled, type NextOccurrence, NOT_SCHEDULED, type Schedule } from './schedule.ts'
import { messageOf, refusalOf, startUnlessSuperseded } from './start-fire.ts'
import { appendEvents, triggerEvent } from './trigger-events.ts'

export interface DecideDueDeps extends LiveFiresDeps {
  readonly triggers: TriggerStore
  readonly fires: FireStore
  readonly sessions: SessionStore
  readonly unitOfWork: UnitOfWork
  readonly startRun: StartRun
  readonly schedule: Schedule
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly meter: Meter
  readonly tracer: Tracer
  readonly logger: Logger
}

/** `again` if the next occurrence may be due too, `later` if the occurrence has to be decided in a later pass. */
export type Progress = 'done' | 'later' | 'again'

/** How many of the newest missed occurrences appear as fires in the history. */
const MAX_MISSED_FIRES = 100

/**
 * Decides the due occurrence of a trigger in one commit: the occurrence fires, is skipped, is queued or is missed.
 * A committed decision is never made again, even if the clock is set back.
 */
export async function decideDue(deps: DecideDueDeps, id: string): Promise<Progress> {
  const now = deps.clock.now()
  const trigger = await deps.triggers.find(id)
  if (trigger?.dueAt === undefined || trigger.dueAt > now || !isScheduled(trigger)) return 'done'
  return decideOne(deps, trigger, now)
}

async function decideOne(deps: DecideDueDeps, trigger: TriggerRecord, now: EpochMs): Promise<Progress> {
  let decision: TriggerDecision | undefined
  try {
    await deps.schedule.ready(trigger)
    decision = nextDecision(deps.schedule, trigger, now)
  } catch (error) {
    await markFailing(deps, trigger, error)
    return 'done'
  }
  if (decision === undefined) return 'done'
  if (decision.kind === 'missed') return recordMissed(deps, trigger, { ...decision, now })
  return fireOccurrence(deps, trigger, { ...decision, now })
}

/**
 * Stops scheduling a trigger whose occurrences cannot be computed, until the trigger is enabled or declared again or
 * the server restarts.
 */
export async function markFailing(deps: DecideDueDeps, trigger: TriggerRecord, error: unknown): Promise<void> {
  const at = deps.clock.now()
  const failure = messageOf(error)
  deps.logger.error('trigger cannot be scheduled', error, { triggerId: trigger.id })
  const failing = { ...trigger, ...NOT_SCHEDULED, failure, version: trigger.version + 1 }
  await deps.unitOfWork.commit([
    replaceTrigger(failing),
    appendEvents(triggerEvent(trigger.id, 'trigger.failed', { at, reason: failure })),
  ])
}

interface MissedOccurrences {
  readonly occurrences: readonly EpochMs[]
  readonly isLast: boolean
  readonly after: NextOccurrence
  readonly now: EpochMs
}

/**
 * Counts all occurrences of a batch as missed. The last batch adds its newest occurrences to the history, with an event
 * each; an earlier batch adds only its newest occurrence.
 */
async function recordMissed(
  deps: DecideDueDeps,
  trigger: TriggerRecord,
  { occurrences, isLast, after, now }: MissedOccurrences,
): Promise<'again'> {
  const shown = occurrences.slice(isLast ? -MAX_MISSED_FIRES : -1)
  const fires = shown.map(
    (scheduledAt): FireRecord => ({
      ...newFire(deps, trigger, scheduledAt),
      status: 'missed',
      reason: `the occurrence was due while the server could not fire it; catchUp is ${trigger.catchUp}`,
    }),
  )
  const last = fires.at(-1)
  const next = last === undefined ? trigger : applyFire(trigger, last, after)
  const outcome = await deps.unitOfWork.commit([
    replaceTrigger({ ...next, missed: trigger.missed + occurrences.length }),
    ...fires.flatMap((fire) => [insertFire(fire), fireEvents(fire, now)]),
  ])
  if (outcome.committed) countFires(deps, trigger, { status: 'missed', by: occurrences.length })
  return 'again'
}

interface DueOccurrence {
  readonly occurrence: EpochMs
  readonly after: NextOccurrence
  readonly now: EpochMs
}

async function fireOccurrence(
  deps: DecideDueDeps,
  trigger: TriggerRecord,
  { occurrence, after, now }: DueOccurrence,
): Promise<Progress> {
  const fire = newFire(deps, trigger, occurrence)
  const record = (decided: FireRecord): readonly Write[] => [
    replaceTrigger(applyFire(trigger, decided, after)),
    insertFire(decided, decided.status === 'pending' ? MAX_PENDING : undefined),
    fireEvents(decided, now),
  ]
  const commit = async (decided: FireRecord): Promise<'again'> => {
    const outcome = await deps.unitOfWork.commit(record(decided))
    if (outcome.committed) countFires(deps, trigger, { status: decided.status })
    return 'again'
  }

  const overlap = await checkOverlap(deps, trigger)
  if (overlap === 'wait') return commit(fire)
  if (overlap !== undefined) return commit({ ...fire, status: 'skipped', reason: overlap.reason })

  try {
    const writes = async (started: FireRecord) => record(started)
    const outcome = await startUnlessSuperseded(deps, { trigger, fire, at: now, writes })
    // The trigger changed after it was read, so decide again.
    if (outcome === 'superseded') return 'again'
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal.kind === 'later') return 'later'
    return commit({ ...fire, status: refusal.status, reason: refusal.reason, firedAt: now })
  }
  countFires(deps, trigger, { status: 'started' })
  return 'again'
}

/**
 * Returns `wait` if the fire must queue behind a run that has not ended or behind earlier pending fires, and a reason
 * if the fire must be skipped.
 */
async function checkOverlap(
  deps: DecideDueDeps,
  { id, overlap }: TriggerRecord,
): Promise<'wait' | { readonly reason: string } | undefined> {
  if (overlap === 'allow') return undefined
  const isLive = await hasLiveRun(deps, id)
  if (overlap === 'skip') return isLive ? { reason: OVERLAP_REASON } : undefined
  const pending = await countPending(deps, id)
  if (pending >= MAX_PENDING) return { reason: `overlap: ${pending} fires are already queued` }
  return isLive || pending > 0 ? 'wait' : undefined
}

const newFire = ({ ids, clock }: DecideDueDeps, { id }: TriggerRecord, scheduledAt: EpochMs): FireRecord => ({
  id: ids.newId('fire'),
  triggerId: id,
  scheduledAt,
  cause: 'schedule',
  status: 'pending',
  createdAt: clock.now(),
})

export function countFires(
  { meter }: Pick<DecideDueDeps, 'meter'>,
  { kind }: TriggerRecord,
  { status, by = 1 }: { readonly status: FireRecord['status']; readonly by?: number },
): void {
  meter.count('svc_trigger_fires_total', { kind, status }, by)
}

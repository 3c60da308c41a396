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
import { afterFire, fireEvents, insertFire, replaceTrigger } from './fire-writes.ts'
import { countPending, hasLiveRun, type LiveFiresDeps, MAX_PENDING, OVERLAP } from './live-fires.ts'
import { nextDecision, type TriggerDecision } from './next-decision.ts'
import { isScheduled, type NextOccurrence, NOT_SCHEDULED, type Schedule } from './schedule.ts'
import { refusalOf, startUnlessSuperseded, textOf } from './start-fire.ts'
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

/** `later` when something is left that is due. */
export type Progress = 'done' | 'later'

const STEPS_AT_ONCE = 200
const MISSED_ROWS = 100

/**
 * Decides what of a trigger is due, one commit each: fires, skips, queues or misses. A decision that was committed is never
 * made again, whatever the clock does.
 */
export async function decideDue(deps: DecideDueDeps, id: string): Promise<Progress> {
  for (let step = 0; step < STEPS_AT_ONCE; step++) {
    const now = deps.clock.now()
    const trigger = await deps.triggers.find(id)
    if (trigger?.dueAt === undefined || trigger.dueAt > now) return 'done'
    if (!isScheduled(trigger)) return 'done'
    const progress = await decideOne(deps, trigger, now)
    if (progress !== 'again') return progress
  }
  return 'later'
}

async function decideOne(deps: DecideDueDeps, trigger: TriggerRecord, now: EpochMs): Promise<Progress | 'again'> {
  let decision: TriggerDecision | undefined
  try {
    await deps.schedule.ready(trigger)
    decision = nextDecision(deps.schedule, trigger, now)
  } catch (error) {
    await markFailing(deps, trigger, error)
    return 'done'
  }
  if (decision === undefined) return 'done'
  if (decision.kind === 'missed') return miss(deps, trigger, { ...decision, now })
  return fireOccurrence(deps, trigger, { ...decision, now })
}

/** Its occurrences cannot be computed: it stands still until it is enabled, declared anew, or the server restarts. */
export async function markFailing(deps: DecideDueDeps, trigger: TriggerRecord, error: unknown): Promise<void> {
  const at = deps.clock.now()
  const failure = textOf(error)
  deps.logger.error('trigger cannot be scheduled', error, { triggerId: trigger.id })
  const failing = { ...trigger, ...NOT_SCHEDULED, failure, version: trigger.version + 1 }
  await deps.unitOfWork.commit([
    replaceTrigger(failing),
    appendEvents(triggerEvent(trigger.id, 'trigger.failed', { at, reason: failure })),
  ])
}

interface Missing {
  readonly occurrences: readonly EpochMs[]
  readonly isLast: boolean
  readonly after: NextOccurrence
  readonly now: EpochMs
}

/** All are counted; the newest are also fires of the history, with an event each, and of a long row one now and then. */
async function miss(
  deps: DecideDueDeps,
  trigger: TriggerRecord,
  { occurrences, isLast, after, now }: Missing,
): Promise<'again'> {
  const shown = occurrences.slice(isLast ? -MISSED_ROWS : -1)
  const fires = shown.map(
    (scheduledAt): FireRecord => ({
      ...newFire(deps, trigger, scheduledAt),
      status: 'missed',
      reason: `due while nothing could fire; catchUp is ${trigger.catchUp}`,
    }),
  )
  const last = fires.at(-1)
  const next = last === undefined ? trigger : afterFire(trigger, last, after)
  const outcome = await deps.unitOfWork.commit([
    replaceTrigger({ ...next, missed: trigger.missed + occurrences.length }),
    ...fires.flatMap((fire) => [insertFire(fire), fireEvents(fire, now)]),
  ])
  if (outcome.committed) count(deps, trigger, { status: 'missed', by: occurrences.length })
  return 'again'
}

interface Firing {
  readonly occurrence: EpochMs
  readonly after: NextOccurrence
  readonly now: EpochMs
}

async function fireOccurrence(
  deps: DecideDueDeps,
  trigger: TriggerRecord,
  { occurrence, after, now }: Firing,
): Promise<Progress | 'again'> {
  const fire = newFire(deps, trigger, occurrence)
  const record = (decided: FireRecord): readonly Write[] => [
    replaceTrigger(afterFire(trigger, decided, after)),
    insertFire(decided),
    fireEvents(decided, now),
  ]
  const commit = async (decided: FireRecord): Promise<'again'> => {
    const outcome = await deps.unitOfWork.commit(record(decided))
    if (outcome.committed) count(deps, trigger, { status: decided.status })
    return 'again'
  }

  const overlap = await overlapOf(deps, trigger)
  if (overlap === 'wait') return commit(fire)
  if (overlap !== undefined) return commit({ ...fire, status: 'skipped', reason: overlap.reason })

  try {
    const writes = async (started: FireRecord) => record(started)
    const outcome = await startUnlessSuperseded(deps, { trigger, fire, at: now, writes })
    // Somebody changed the trigger after it was read: decide again.
    if (outcome === 'superseded') return 'again'
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal.kind === 'later') return 'later'
    return commit({ ...fire, status: refusal.status, reason: refusal.reason, firedAt: now })
  }
  count(deps, trigger, { status: 'started' })
  return 'again'
}

/** A queued fire goes before a new one, and a run that has not ended before both. */
async function overlapOf(
  deps: DecideDueDeps,
  { id, overlap }: TriggerRecord,
): Promise<'wait' | { readonly reason: string } | undefined> {
  if (overlap === 'allow') return undefined
  const isLive = await hasLiveRun(deps, id)
  if (overlap === 'skip') return isLive ? { reason: OVERLAP } : undefined
  const pending = await countPending(deps, id)
  if (pending >= MAX_PENDING) return { reason: `overlap: ${pending} fires wait already` }
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

export function count(
  { meter }: Pick<DecideDueDeps, 'meter'>,
  { kind }: TriggerRecord,
  { status, by = 1 }: { readonly status: FireRecord['status']; readonly by?: number },
): void {
  meter.count('svc_trigger_fires_total', { kind, status }, by)
}

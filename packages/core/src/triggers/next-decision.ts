import type { EpochMs, TriggerRecord } from '@perdure/ports'
import { isExpired, type NextOccurrence, type Schedule } from './schedule.ts'

/** The next decision to record for a trigger that is due. */
export type TriggerDecision =
  /** These occurrences, oldest first, are missed. */
  | {
      readonly kind: 'missed'
      readonly occurrences: readonly EpochMs[]
      /** Whether this is the last batch of missed occurrences. */
      readonly isLast: boolean
      readonly after: NextOccurrence
    }
  /** This occurrence fires. */
  | { readonly kind: 'fire'; readonly occurrence: EpochMs; readonly after: NextOccurrence }

/**
 * An occurrence that is decided at most this many milliseconds after its due time, or within its catch-up window when
 * that is shorter, is on time; the catch-up policy applies to all others.
 */
const ON_TIME_MS = 60_000
const MAX_OCCURRENCES_PER_DECISION = 1_000

/**
 * Applies the catch-up policy to the occurrences that are due now. `none` and `latest` fire at most the newest
 * occurrence, `all` at most the newest `maxCatchUp` occurrences. Of these, `none` fires only an occurrence that is on
 * time; `latest` and `all` fire only occurrences within the catch-up window. An expired trigger fires nothing.
 */
export function nextDecision(schedule: Schedule, trigger: TriggerRecord, now: EpochMs): TriggerDecision | undefined {
  const { due, following } = dueOccurrences(schedule, trigger, now)
  const [first] = due
  if (first === undefined) return undefined
  const isLast = following === undefined || schedule.dueAt(trigger, following) > now
  const chosen = isLast ? occurrencesToFire(due, { schedule, trigger, now }) : candidatesOf(due, trigger)
  const missed = due.slice(0, due.length - chosen.length)
  if (missed.length > 0) {
    return {
      kind: 'missed',
      occurrences: missed,
      isLast,
      after: schedule.toNextOccurrence(trigger, chosen[0] ?? following),
    }
  }
  return { kind: 'fire', occurrence: first, after: schedule.toNextOccurrence(trigger, due[1] ?? following) }
}

interface DueOccurrences {
  readonly due: readonly EpochMs[]
  readonly following: EpochMs | undefined
}

/** The oldest batch of due occurrences, in order, and the occurrence that follows it. */
function dueOccurrences(schedule: Schedule, trigger: TriggerRecord, now: EpochMs): DueOccurrences {
  const due: EpochMs[] = []
  let occurrence = trigger.nextAt
  while (occurrence !== undefined && schedule.dueAt(trigger, occurrence) <= now && due.length < batchSizeOf(trigger)) {
    due.push(occurrence)
    occurrence = schedule.next(trigger, occurrence)
  }
  return { due, following: occurrence }
}

const batchSizeOf = ({ maxCatchUp }: TriggerRecord) => MAX_OCCURRENCES_PER_DECISION + maxCatchUp

/**
 * If more occurrences are due after this batch, only the newest occurrences of the batch may still fire. A later
 * decision decides these occurrences together with those that follow.
 */
const candidatesOf = (due: readonly EpochMs[], { catchUp, maxCatchUp }: TriggerRecord): readonly EpochMs[] =>
  catchUp === 'all' ? due.slice(-maxCatchUp) : []

interface CatchUpContext {
  readonly schedule: Schedule
  readonly trigger: TriggerRecord
  readonly now: EpochMs
}

/** The due occurrences that the catch-up policy allows to fire; these are always the newest. */
function occurrencesToFire(due: readonly EpochMs[], { schedule, trigger, now }: CatchUpContext): readonly EpochMs[] {
  const { catchUp, maxCatchUp, catchUpWindowMs } = trigger
  if (isExpired(trigger, now)) return []
  const maxLateMs = catchUp === 'none' ? Math.min(ON_TIME_MS, catchUpWindowMs) : catchUpWindowMs
  const newest = due.slice(catchUp === 'all' ? -maxCatchUp : -1)
  const first = newest.findIndex((occurrence) => now - schedule.dueAt(trigger, occurrence) <= maxLateMs)
  return first === -1 ? [] : newest.slice(first)
}

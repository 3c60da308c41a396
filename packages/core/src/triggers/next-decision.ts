import type { EpochMs, TriggerRecord } from '@perdure/ports'
import { isExpired, type NextOccurrence, type Schedule } from './schedule.ts'

/** The next thing to write about a trigger that is due. */
export type TriggerDecision =
  /** These occurrences, oldest first, are not caught up. */
  | {
      readonly kind: 'missed'
      readonly occurrences: readonly EpochMs[]
      /** Nothing more is missed after these. */
      readonly isLast: boolean
      readonly after: NextOccurrence
    }
  /** This occurrence fires. */
  | { readonly kind: 'fire'; readonly occurrence: EpochMs; readonly after: NextOccurrence }

/** An occurrence handled so long after it was due is late and subject to the catch-up policy. */
const ON_TIME_MS = 60_000
const AT_ONCE = 1_000

/**
 * What the catch-up policy makes of the occurrences that are due now. Of several, `none` and `latest` fire the newest at
 * most, `all` the newest `maxCatchUp`; of those `none` fires only what is on time, the others what is within the window.
 * An expired trigger fires nothing any more.
 */
export function nextDecision(schedule: Schedule, trigger: TriggerRecord, now: EpochMs): TriggerDecision | undefined {
  const { due, following } = dueOccurrences(schedule, trigger, now)
  const [first] = due
  if (first === undefined) return undefined
  const isLast = following === undefined || schedule.dueAt(trigger, following) > now
  const chosen = isLast ? chooseFrom(due, { schedule, trigger, now }) : notYet(due, trigger)
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

/** Consecutive occurrences that are due, oldest first, as many as are handled at once, and the one after them. */
function dueOccurrences(schedule: Schedule, trigger: TriggerRecord, now: EpochMs): DueOccurrences {
  const due: EpochMs[] = []
  let occurrence = trigger.nextAt
  while (occurrence !== undefined && schedule.dueAt(trigger, occurrence) <= now && due.length < limitOf(trigger)) {
    due.push(occurrence)
    occurrence = schedule.next(trigger, occurrence)
  }
  return { due, following: occurrence }
}

const limitOf = ({ maxCatchUp }: TriggerRecord) => AT_ONCE + maxCatchUp

/** More is due behind these: only the newest of them may still fire, once all that is due is known. */
const notYet = (due: readonly EpochMs[], { catchUp, maxCatchUp }: TriggerRecord): readonly EpochMs[] =>
  catchUp === 'all' ? due.slice(-maxCatchUp) : []

interface Choosing {
  readonly schedule: Schedule
  readonly trigger: TriggerRecord
  readonly now: EpochMs
}

/** The newest ones that fire. */
function chooseFrom(due: readonly EpochMs[], { schedule, trigger, now }: Choosing): readonly EpochMs[] {
  const { catchUp, maxCatchUp, catchUpWindowMs } = trigger
  if (isExpired(trigger, now)) return []
  const longestMs = catchUp === 'none' ? ON_TIME_MS : Math.max(ON_TIME_MS, catchUpWindowMs)
  const newest = due.slice(catchUp === 'all' ? -maxCatchUp : -1)
  const first = newest.findIndex((occurrence) => now - schedule.dueAt(trigger, occurrence) <= longestMs)
  return first === -1 ? [] : newest.slice(first)
}

import { type CronSchedule, type Digest, type EpochMs, plusMs, type TriggerRecord } from '@perdure/ports'
import { kindOf } from './kinds/trigger-kinds.ts'

export interface ScheduleDeps {
  readonly cronSchedule: CronSchedule
  readonly digest: Digest
}

/**
 * The next occurrence of a trigger, and when it is due, including jitter. Both are missing while nothing is scheduled.
 */
export interface NextOccurrence {
  readonly nextAt: EpochMs | undefined
  readonly dueAt: EpochMs | undefined
}

export const NOT_SCHEDULED: NextOccurrence = { nextAt: undefined, dueAt: undefined }

/** Computes the occurrences of triggers. Rethrows the errors of the cron library. */
export interface Schedule {
  /** Must be called before any other method for this trigger. */
  ready(trigger: Pick<TriggerRecord, 'kind'>): Promise<void>
  /**
   * The first occurrence strictly after an instant; `undefined` at or after the expiry, and for kinds whose occurrences
   * do not follow from the clock.
   */
  next(trigger: TriggerRecord, after: EpochMs): EpochMs | undefined
  /** When an occurrence is due, including jitter. Repeated calls for an occurrence return the same time. */
  dueAt(trigger: TriggerRecord, occurrence: EpochMs): EpochMs
  /** Like `next`, but also returns the due time of the occurrence. */
  occurrenceAfter(trigger: TriggerRecord, after: EpochMs): NextOccurrence
  toNextOccurrence(trigger: TriggerRecord, occurrence: EpochMs | undefined): NextOccurrence
}

export function createSchedule({ cronSchedule, digest }: ScheduleDeps): Schedule {
  const schedule: Schedule = {
    ready: (trigger) => kindOf(trigger).ready(cronSchedule),
    next(trigger, after) {
      const occurrence = kindOf(trigger).next(trigger, after, cronSchedule)
      return occurrence === undefined || isExpired(trigger, occurrence) ? undefined : occurrence
    },
    dueAt({ id, jitterMs }, occurrence) {
      if (jitterMs === 0) return occurrence
      const draw = Number.parseInt(digest.sha256(`${id} ${occurrence}`).slice(0, 12), 16)
      return plusMs(occurrence, draw % (jitterMs + 1))
    },
    occurrenceAfter: (trigger, after) => schedule.toNextOccurrence(trigger, schedule.next(trigger, after)),
    toNextOccurrence(trigger, occurrence) {
      if (occurrence === undefined || !isScheduled(trigger) || isExpired(trigger, occurrence)) return NOT_SCHEDULED
      return { nextAt: occurrence, dueAt: schedule.dueAt(trigger, occurrence) }
    },
  }

  return schedule
}

/** Whether occurrences are computed for the trigger at all. */
export const isScheduled = ({ enabled, orphanedAt, failure }: TriggerRecord): boolean =>
  enabled && orphanedAt === undefined && failure === undefined

/** Whether the trigger has expired at an instant. A trigger has no occurrence at or after its expiry. */
export const isExpired = ({ expiresAt }: TriggerRecord, at: EpochMs): boolean =>
  expiresAt !== undefined && expiresAt <= at

/** The instant after which occurrences are undecided. A decided occurrence is never decided again. */
export const undecidedFrom = ({ decidedThrough }: TriggerRecord, now: EpochMs): EpochMs =>
  decidedThrough === undefined || decidedThrough < now ? now : decidedThrough

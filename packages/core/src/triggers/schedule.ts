import { type CronSchedule, type Digest, type EpochMs, plusMs, type TriggerRecord } from '@perdure/ports'

export interface ScheduleDeps {
  readonly cronSchedule: CronSchedule
  readonly digest: Digest
}

/** When a trigger is to be looked at next; both missing while nothing is scheduled. */
export interface Placement {
  readonly nextAt: EpochMs | undefined
  readonly dueAt: EpochMs | undefined
}

export const NOT_SCHEDULED: Placement = { nextAt: undefined, dueAt: undefined }

/** The occurrences of triggers. What the cron library throws comes out of here. */
export interface Schedule {
  /** Before anything else is asked about the trigger. */
  ready(trigger: Pick<TriggerRecord, 'kind'>): Promise<void>
  /** The first occurrence of a cron or interval trigger after an instant, exclusively; none at or after its expiry. */
  next(trigger: TriggerRecord, after: EpochMs): EpochMs | undefined
  /** When an occurrence is due: the jitter of one occurrence is always the same. */
  dueAt(trigger: TriggerRecord, occurrence: EpochMs): EpochMs
  /** Where the first occurrence after an instant lies. */
  placeAfter(trigger: TriggerRecord, after: EpochMs): Placement
  place(trigger: TriggerRecord, occurrence: EpochMs | undefined): Placement
}

export function createSchedule({ cronSchedule, digest }: ScheduleDeps): Schedule {
  const schedule: Schedule = {
    async ready({ kind }) {
      if (kind === 'cron') await cronSchedule.ready()
    },
    next(trigger, after) {
      const occurrence = nextOf(trigger, after)
      return occurrence === undefined || isExpired(trigger, occurrence) ? undefined : occurrence
    },
    dueAt({ id, jitterMs }, occurrence) {
      if (jitterMs === 0) return occurrence
      const draw = Number.parseInt(digest.sha256(`${id} ${occurrence}`).slice(0, 12), 16)
      return plusMs(occurrence, draw % (jitterMs + 1))
    },
    placeAfter: (trigger, after) => schedule.place(trigger, schedule.next(trigger, after)),
    place(trigger, occurrence) {
      if (occurrence === undefined || !isScheduled(trigger) || isExpired(trigger, occurrence)) return NOT_SCHEDULED
      return { nextAt: occurrence, dueAt: schedule.dueAt(trigger, occurrence) }
    },
  }

  const nextOf = ({ kind, cron, timezone, intervalMs, anchorAt }: TriggerRecord, after: EpochMs) => {
    if (kind === 'cron') return cronSchedule.next({ cron: cron ?? '', timezone: timezone ?? 'UTC' }, after)
    if (kind !== 'interval' || intervalMs === undefined) return undefined
    return plusMs(anchorAt, (Math.floor((after - anchorAt) / intervalMs) + 1) * intervalMs)
  }

  return schedule
}

/** Whether its occurrences are looked for at all. */
export const isScheduled = ({ enabled, orphanedAt, failure }: TriggerRecord): boolean =>
  enabled && orphanedAt === undefined && failure === undefined

/** Whether it has expired at an instant: nothing occurs from then on. */
export const isExpired = ({ expiresAt }: TriggerRecord, at: EpochMs): boolean =>
  expiresAt !== undefined && expiresAt <= at

/** From where on occurrences are still to be decided: never one that was. */
export const undecidedFrom = ({ decidedThrough }: TriggerRecord, now: EpochMs): EpochMs =>
  decidedThrough === undefined || decidedThrough < now ? now : decidedThrough

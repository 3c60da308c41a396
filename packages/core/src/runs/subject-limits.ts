import {
  type Conflict,
  type EpochMs,
  endOfDay,
  perdureError,
  type RunRecord,
  reachedLimit,
  type SubjectLimits,
  type SubjectUsage,
  type Write,
} from '@perdure/ports'

/** The limits of `runs.perSubject` in the configuration; a missing member is no limit. */
export interface PerSubject {
  readonly maxActive?: number | undefined
  readonly maxPerDay?: number | undefined
  readonly maxUsdCentsPerDay?: number | undefined
}

export const subjectLimitsOf = ({ maxActive, maxPerDay, maxUsdCentsPerDay }: PerSubject = {}): SubjectLimits => ({
  activeRuns: maxActive,
  runsToday: maxPerDay,
  costUsdToday: maxUsdCentsPerDay === undefined ? undefined : maxUsdCentsPerDay / 100,
})

/** The write that precedes the insertion of a run which no run has started; none without limits. */
export function admitRun(run: Pick<RunRecord, 'owner' | 'createdAt'>, perSubject: PerSubject | undefined): Write[] {
  const limits = subjectLimitsOf(perSubject)
  const isLimited = Object.values(limits).some((limit) => limit !== undefined)
  return isLimited ? [{ type: 'run.admit', subject: run.owner, now: run.createdAt, limits }] : []
}

interface Admitting {
  readonly perSubject?: PerSubject | undefined
  readonly clock: { now(): EpochMs }
}

/** @throws PerdureError `quota-exceeded` if the conflict says that the subject has reached a limit */
export function refuseOverQuota({ perSubject, clock }: Admitting, conflict: Conflict | undefined): void {
  if (conflict?.type !== 'run.admit') return
  const limits = subjectLimitsOf(perSubject)
  const name = reachedLimit(conflict.current, limits) ?? 'activeRuns'
  const { field, message } = REFUSALS[name]
  const now = clock.now()
  const retryAfter = name === 'activeRuns' ? ACTIVE_RETRY_MS : endOfDay(now) - now
  const when = name === 'activeRuns' ? 'when one of them has ended' : `after ${new Date(endOfDay(now)).toISOString()}`
  throw perdureError('quota-exceeded', {
    message: `${message(conflict.current[name], limits[name] ?? 0)} (runs.perSubject.${field})`,
    hint: `try again ${when}, or ask the operator to raise the limit`,
    retryAfter,
  })
}

const ACTIVE_RETRY_MS = 1_000

const usd = (amount: number): string => amount.toFixed(2)

const REFUSALS: {
  readonly [Member in keyof SubjectUsage]: {
    readonly field: keyof PerSubject
    message(used: number, limit: number): string
  }
} = {
  activeRuns: {
    field: 'maxActive',
    message: (used, limit) => `${used} runs of the caller are queued or running, and the limit is ${limit}`,
  },
  runsToday: {
    field: 'maxPerDay',
    message: (used, limit) => `the caller has started ${used} runs today, and the limit is ${limit}`,
  },
  costUsdToday: {
    field: 'maxUsdCentsPerDay',
    message: (used, limit) => `the runs of today have cost the caller ${usd(used)} USD, and the limit is ${usd(limit)}`,
  },
}

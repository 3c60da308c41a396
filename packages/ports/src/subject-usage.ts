import type { EpochMs } from './clock.ts'

/** What a subject uses. Child runs do not count; their cost is part of that of their parents. */
export interface SubjectUsage {
  /** Queued and running runs. Suspended runs do not count. */
  readonly activeRuns: number
  /** Runs that were created since the start of the day, including deleted ones, but without copies of ended runs. */
  readonly runsToday: number
  /** What these runs have cost so far, in US dollars. */
  readonly costUsdToday: number
}

/** What a subject may use; a missing member is no limit. */
export type SubjectLimits = { readonly [Member in keyof SubjectUsage]?: number | undefined }

/** The members of `SubjectLimits`, in the order in which they are checked. */
const SUBJECT_LIMITS = ['activeRuns', 'runsToday', 'costUsdToday'] as const satisfies readonly (keyof SubjectUsage)[]

const DAY_MS = 86_400_000

/** The number of the UTC day. */
export const dayOf = (at: EpochMs): number => Math.floor(at / DAY_MS)

export const startOfDay = (at: EpochMs): EpochMs => (dayOf(at) * DAY_MS) as EpochMs

export const endOfDay = (at: EpochMs): EpochMs => ((dayOf(at) + 1) * DAY_MS) as EpochMs

/** The oldest UTC day whose deleted runs are known at `now`. The clock of another process may be behind, still on the day before. */
export const oldestKeptDay = (now: EpochMs): number => dayOf(now) - 1

/** The first limit that the usage has reached, so that no further run may start. */
export const reachedLimit = (usage: SubjectUsage, limits: SubjectLimits): keyof SubjectUsage | undefined =>
  SUBJECT_LIMITS.find((name) => usage[name] >= (limits[name] ?? Number.POSITIVE_INFINITY))

/** Whether the run counts in the usage of its day: neither a child run, nor the copy of an ended run, which never executed. */
export const countsPerDay = ({ parentRunId, execution, startedAt }: CountedRun): boolean =>
  parentRunId === undefined && (execution > 0 || startedAt === undefined)

/** What the deletion of a run must not take off the usage of its owner. */
export const usageOfDeleted = (run: DeletedRun) => {
  const { owner, createdAt, usage } = run
  return countsPerDay(run) ? { subject: owner, day: dayOf(createdAt), runs: 1, costUsd: usage.costUsd } : undefined
}

/** The members of a `RunRecord`. */
interface CountedRun {
  readonly parentRunId?: string | undefined
  readonly execution: number
  readonly startedAt?: EpochMs | undefined
}

/** The members of a `RunRecord`. */
interface DeletedRun extends CountedRun {
  readonly owner: string
  readonly createdAt: EpochMs
  readonly usage: { readonly costUsd: number }
}

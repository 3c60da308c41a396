import {
  countsPerDay,
  dayOf,
  type EpochMs,
  type RunRecord,
  type SubjectUsage,
  startOfDay,
  usageOfDeleted,
} from '@perdure/ports'
import { putEntry, type UndoLog } from './undo-log.ts'

export interface UsageTable {
  of(subject: string, now: EpochMs): SubjectUsage
  /** Keeps the usage of a run that is about to be deleted. */
  keep(run: RunRecord, undo: UndoLog): void
}

type Kept = Omit<NonNullable<ReturnType<typeof usageOfDeleted>>, 'subject'>

const NOTHING = { runs: 0, costUsd: 0 }

/** What subjects use, from the stored runs and from those that were deleted on the newest day. */
export function createUsageTable(runs: () => readonly RunRecord[]): UsageTable {
  const deleted = new Map<string, Kept>()
  return {
    of(subject, now) {
      const roots = runs().filter((run) => run.owner === subject && run.parentRunId === undefined)
      const today = roots.filter((run) => run.createdAt >= startOfDay(now) && countsPerDay(run))
      const known = deleted.get(subject)
      const kept = known !== undefined && known.day >= dayOf(now) ? known : NOTHING
      return {
        activeRuns: roots.filter(({ status }) => status === 'queued' || status === 'running').length,
        runsToday: today.length + kept.runs,
        costUsdToday: today.reduce((sum, { usage }) => sum + usage.costUsd, kept.costUsd),
      }
    },
    keep(run, undo) {
      const added = usageOfDeleted(run)
      const current = added && deleted.get(added.subject)
      if (added === undefined || (current !== undefined && current.day > added.day)) return
      const { subject, day, runs: count, costUsd } = added
      const sum = current?.day === day ? current : NOTHING
      putEntry(deleted, [subject, { day, runs: sum.runs + count, costUsd: sum.costUsd + costUsd }], undo)
    },
  }
}

import {
  countsPerDay,
  dayOf,
  type EpochMs,
  oldestKeptDay,
  type RunRecord,
  reachedLimit,
  type SubjectUsage,
  startOfDay,
  usageOfDeleted,
} from '@perdure/ports'
import { putEntry, type UndoLog } from './undo-log.ts'
import type { WriteAppliers } from './write-applier.ts'

export interface UsageTable {
  of(subject: string, now: EpochMs): SubjectUsage
  /** Keeps the usage of a run that is about to be deleted. */
  keep(run: RunRecord, undo: UndoLog): void
  readonly appliers: Pick<WriteAppliers, 'run.admit' | 'usage.prune'>
}

type Kept = NonNullable<ReturnType<typeof usageOfDeleted>>

/** What subjects use, from the stored runs and from deleted ones. */
export function createUsageTable(runs: () => readonly RunRecord[]): UsageTable {
  const deleted = new Map<string, Kept>()
  const of = (subject: string, now: EpochMs): SubjectUsage => {
    const roots = runs().filter((run) => run.owner === subject && run.parentRunId === undefined)
    const today = roots.filter((run) => run.createdAt >= startOfDay(now) && countsPerDay(run))
    const kept = [...deleted.values()].filter((one) => one.subject === subject && one.day >= dayOf(now))
    const costs = [...today.map(({ usage }) => usage.costUsd), ...kept.map(({ costUsd }) => costUsd)]
    return {
      activeRuns: roots.filter(({ status }) => status === 'queued' || status === 'running').length,
      runsToday: kept.reduce((sum, one) => sum + one.runs, today.length),
      costUsdToday: costs.reduce((sum, cost) => sum + cost, 0),
    }
  }
  return {
    of,
    keep(run, undo) {
      const added = usageOfDeleted(run)
      if (added === undefined) return
      const key = JSON.stringify([added.subject, added.day])
      const { runs: count = 0, costUsd = 0 } = deleted.get(key) ?? {}
      putEntry(deleted, [key, { ...added, runs: count + added.runs, costUsd: costUsd + added.costUsd }], undo)
    },
    appliers: {
      'run.admit'({ type, subject, now, limits }) {
        const current = of(subject, now)
        return reachedLimit(current, limits) === undefined ? 0 : { type, current }
      },
      'usage.prune'({ now, limit }, { undo }) {
        const over = [...deleted].filter(([, { day }]) => day < oldestKeptDay(now)).slice(0, limit)
        for (const [key] of over) putEntry(deleted, [key, undefined], undo)
        return over.length
      },
    },
  }
}

import type { EpochMs } from '@perdure/ports'
import type { EventTable } from './event-table.ts'
import type { RunBelongings } from './thread-deletion.ts'
import type { WriteAppliers } from './write-applier.ts'

export interface RetainedRuns extends RunBelongings {
  isActive(runId: string): boolean
  /** Ids of the runs that retention can delete, oldest first. */
  idsEndedBefore(before: EpochMs): readonly string[]
}

export interface RetentionParts {
  readonly runs: RetainedRuns
  readonly events: Pick<EventTable, 'trim' | 'trimRun'>
  /** Other tables with rows of runs, except events. */
  readonly ofRuns: readonly RunBelongings[]
}

export const createRetention = ({
  runs,
  events,
  ofRuns,
}: RetentionParts): Pick<WriteAppliers, 'event.trim' | 'run.prune'> => ({
  'event.trim': ({ before, limit }, { undo }) => events.trim({ before, limit, isKept: runs.isActive }, undo),
  'run.prune'({ before, limit }, { undo }) {
    const ids = runs.idsEndedBefore(before).slice(0, limit)
    for (const id of ids) {
      events.trimRun(id, undo)
      for (const table of [runs, ...ofRuns]) table.removeRun(id, undo)
    }
    return ids.length
  },
})

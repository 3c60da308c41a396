import type { EpochMs } from '@perdure/ports'
import type { EventTable } from './event-table.ts'
import type { RunBelongings, RunParts } from './thread-deletion.ts'
import type { WriteAppliers } from './write-applier.ts'

export interface RetainedRuns extends RunBelongings {
  isActive(runId: string): boolean
  /** Ids of the runs that retention can delete, oldest first; with `owner`, only of this owner. */
  idsEndedBefore(before: EpochMs, owner?: string): readonly string[]
}

export interface RetentionParts {
  readonly runs: RetainedRuns
  readonly events: Pick<EventTable, 'trim' | 'trimRun' | 'remove'>
  readonly approvals: RunParts['approvals']
  readonly idempotency: RunParts['idempotency']
  /** Other tables with rows of runs, except events. */
  readonly ofRuns: readonly RunBelongings[]
}

export const createRetention = ({
  runs,
  events,
  approvals,
  idempotency,
  ofRuns,
}: RetentionParts): Pick<WriteAppliers, 'event.trim' | 'event.delete' | 'run.prune'> => ({
  'event.trim': ({ before, limit }, { undo }) => events.trim({ before, limit, isKept: runs.isActive }, undo),
  'event.delete': ({ positions }, { undo }) => events.remove(positions, undo),
  'run.prune'({ before, limit, of }, { undo }) {
    const ids = runs.idsEndedBefore(before, of?.owner).slice(0, limit)
    if (of !== undefined) {
      idempotency.replaceAnswers(new Set([...ids, ...ids.flatMap(approvals.idsOfRun)]), of.answer, undo)
    }
    for (const id of ids) {
      events.trimRun(id, undo)
      for (const table of [runs, approvals, ...ofRuns]) table.removeRun(id, undo)
    }
    return ids.length
  },
})

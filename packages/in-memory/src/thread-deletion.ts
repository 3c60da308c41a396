import type { UndoLog } from './undo-log.ts'
import type { WriteAppliers } from './write-applier.ts'

/** A table with rows that go when their run goes. */
export interface RunBelongings {
  removeRun(runId: string, undo: UndoLog): void
}

export interface ThreadRuns extends RunBelongings {
  idsOfThread(workflowId: string, threadId: string): readonly string[]
}

export const createThreadDeletion = (
  runs: ThreadRuns,
  belongings: readonly RunBelongings[],
): Pick<WriteAppliers, 'thread.delete'> => ({
  'thread.delete'({ workflowId, threadId }, { undo }) {
    const ids = runs.idsOfThread(workflowId, threadId)
    for (const id of ids) for (const table of [runs, ...belongings]) table.removeRun(id, undo)
    return ids.length
  },
})

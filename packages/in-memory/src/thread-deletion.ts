import type { RunRecord, StoredResponse } from '@perdure/ports'
import type { UndoLog } from './undo-log.ts'
import type { WriteAppliers } from './write-applier.ts'

/** A table with rows that are deleted with their run. */
export interface RunBelongings {
  removeRun(runId: string, undo: UndoLog): void
}

export interface RunParts {
  readonly runs: RunBelongings
  readonly approvals: RunBelongings & { idsOfRun(runId: string): readonly string[] }
  readonly idempotency: { replaceAnswers(ids: ReadonlySet<string>, answer: StoredResponse, undo: UndoLog): void }
  /** Every other table with rows of runs. */
  readonly ofRuns: readonly RunBelongings[]
}

/** Removes runs with all their data and replaces responses that contain that data with `answer`. */
export function removeRuns(
  { runs, approvals, idempotency, ofRuns }: RunParts,
  { ids, answer }: { readonly ids: readonly string[]; readonly answer: StoredResponse },
  undo: UndoLog,
): void {
  idempotency.replaceAnswers(new Set([...ids, ...ids.flatMap(approvals.idsOfRun)]), answer, undo)
  for (const id of ids) for (const table of [runs, approvals, ...ofRuns]) table.removeRun(id, undo)
}

export interface ThreadRuns extends RunBelongings {
  idsOfThread(workflowId: string, threadId: string): readonly string[]
  /** The queued, running or suspended run of the thread. */
  activeOfThread(workflowId: string, threadId: string): RunRecord | undefined
}

export interface ThreadParts extends RunParts {
  readonly runs: ThreadRuns
}

export const createThreadDeletion = (parts: ThreadParts): Pick<WriteAppliers, 'thread.delete'> => ({
  'thread.delete'({ type, workflowId, threadId, answer }, { undo }) {
    const current = parts.runs.activeOfThread(workflowId, threadId)
    if (current !== undefined) return { type, current }
    const ids = parts.runs.idsOfThread(workflowId, threadId)
    removeRuns(parts, { ids, answer }, undo)
    return ids.length
  },
})

import type { RunRecord, SessionRecord, StoredResponse } from '@berth/ports'
import type { RunBelongings } from './thread-deletion.ts'
import type { UndoLog } from './undo-log.ts'
import type { WriteAppliers } from './write-applier.ts'

/** A table with rows that go when their session goes, besides those of its runs. */
export interface SessionBelongings {
  removeSession(sessionId: string, undo: UndoLog): void
}

export interface SessionParts {
  readonly sessions: SessionBelongings & { get(id: string): SessionRecord | undefined }
  readonly runs: RunBelongings & { ofSession(sessionId: string): readonly RunRecord[] }
  readonly approvals: RunBelongings & { idsOfRun(runId: string): readonly string[] }
  readonly idempotency: { forget(ids: ReadonlySet<string>, answer: StoredResponse, undo: UndoLog): void }
  /** Every other table with rows of runs. */
  readonly ofRuns: readonly RunBelongings[]
  /** Every other table with rows of sessions: the facts it was the source of, … */
  readonly ofSessions: readonly SessionBelongings[]
}

export const createSessionDeletion = (parts: SessionParts): Pick<WriteAppliers, 'session.delete'> => ({
  'session.delete'({ type, id, answer }, { undo }) {
    const { sessions, runs, approvals, idempotency } = parts
    const current = sessions.get(id)
    const members = runs.ofSession(id)
    if (current === undefined) return { type }
    if (members.some(isActive)) return { type, current }
    const runIds = members.map((run) => run.id)
    idempotency.forget(new Set([id, ...runIds, ...runIds.flatMap(approvals.idsOfRun)]), answer, undo)
    for (const runId of runIds) for (const table of [runs, approvals, ...parts.ofRuns]) table.removeRun(runId, undo)
    for (const table of [sessions, ...parts.ofSessions]) table.removeSession(id, undo)
    return 1
  },
})

const isActive = ({ status }: RunRecord): boolean =>
  status === 'queued' || status === 'running' || status === 'suspended'

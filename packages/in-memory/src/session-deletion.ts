import type { RunRecord, SessionRecord } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import { type RunBelongings, type RunParts, removeRuns } from './thread-deletion.ts'
import type { UndoLog } from './undo-log.ts'
import type { WriteAppliers } from './write-applier.ts'

/** A table with rows that belong to a session itself, not to its runs, and are deleted with the session. */
export interface SessionBelongings {
  removeSession(sessionId: string, undo: UndoLog): void
}

/** Removes events and advances `trimmedThrough`. */
export interface TrimmedEvents {
  trimRun(runId: string, undo: UndoLog): void
  /** Removes the events of the session, except the events of its runs. */
  trimSession(sessionId: string, undo: UndoLog): void
}

export interface SessionParts extends RunParts {
  readonly sessions: SessionBelongings & { get(id: string): SessionRecord | undefined }
  readonly runs: RunBelongings & { ofSession(sessionId: string): readonly RunRecord[] }
  readonly events: TrimmedEvents
  /** Every other table with references to sessions, for example facts. */
  readonly ofSessions: readonly SessionBelongings[]
}

export const createSessionDeletion = (parts: SessionParts): Pick<WriteAppliers, 'session.delete'> => ({
  'session.delete'({ type, id, answer, idleSince }, { undo }) {
    const { sessions, runs, idempotency } = parts
    const current = sessions.get(id)
    const members = runs.ofSession(id)
    if (current === undefined) return { type }
    if (members.some(({ status }) => !isTerminal(status)) || wasActiveSince(current, idleSince))
      return { type, current }
    const runIds = members.map((run) => run.id)
    if (idleSince !== undefined) recordTrimmed(parts, { id, runIds }, undo)
    idempotency.replaceAnswers(new Set([id]), answer, undo)
    removeRuns(parts, { ids: runIds, answer }, undo)
    for (const table of [sessions, ...parts.ofSessions]) table.removeSession(id, undo)
    return 1
  },
})

const wasActiveSince = ({ updatedAt }: SessionRecord, idleSince: number | undefined): boolean =>
  idleSince !== undefined && updatedAt > idleSince

interface DeletedSession {
  readonly id: string
  readonly runIds: readonly string[]
}

/** Advances `trimmedThrough`, so that a client that resumes from an earlier position is notified of a gap. */
function recordTrimmed({ events }: Pick<SessionParts, 'events'>, { id, runIds }: DeletedSession, undo: UndoLog): void {
  for (const runId of runIds) events.trimRun(runId, undo)
  events.trimSession(id, undo)
}

import type { RunRecord, SessionRecord } from '@perdure/ports'
import { type RunBelongings, type RunParts, removeRuns } from './thread-deletion.ts'
import type { UndoLog } from './undo-log.ts'
import type { WriteAppliers } from './write-applier.ts'

/** A table with rows that go when their session goes, besides those of its runs. */
export interface SessionBelongings {
  removeSession(sessionId: string, undo: UndoLog): void
}

/** Removes events, and tells of them in `trimmedThrough`. */
export interface TrimmedEvents {
  trimRun(runId: string, undo: UndoLog): void
  /** Of the session, but for its runs. */
  trimSession(sessionId: string, undo: UndoLog): void
}

export interface SessionParts extends RunParts {
  readonly sessions: SessionBelongings & { get(id: string): SessionRecord | undefined }
  readonly runs: RunBelongings & { ofSession(sessionId: string): readonly RunRecord[] }
  readonly events: TrimmedEvents
  /** Every other table with rows of sessions: the facts it was the source of, … */
  readonly ofSessions: readonly SessionBelongings[]
}

export const createSessionDeletion = (parts: SessionParts): Pick<WriteAppliers, 'session.delete'> => ({
  'session.delete'({ type, id, answer, idleSince }, { undo }) {
    const { sessions, runs, idempotency } = parts
    const current = sessions.get(id)
    const members = runs.ofSession(id)
    if (current === undefined) return { type }
    if (members.some(isActive) || isBack(current, idleSince)) return { type, current }
    const runIds = members.map((run) => run.id)
    if (idleSince !== undefined) tellOfEvents(parts, { id, runIds }, undo)
    idempotency.forget(new Set([id]), answer, undo)
    removeRuns(parts, { ids: runIds, answer }, undo)
    for (const table of [sessions, ...parts.ofSessions]) table.removeSession(id, undo)
    return 1
  },
})

const isBack = ({ updatedAt }: SessionRecord, idleSince: number | undefined): boolean =>
  idleSince !== undefined && updatedAt > idleSince

interface Gone {
  readonly id: string
  readonly runIds: readonly string[]
}

/** A cursor before the events that go now hears of a gap. */
function tellOfEvents({ events }: Pick<SessionParts, 'events'>, { id, runIds }: Gone, undo: UndoLog): void {
  for (const runId of runIds) events.trimRun(runId, undo)
  events.trimSession(id, undo)
}

const isActive = ({ status }: RunRecord): boolean =>
  status === 'queued' || status === 'running' || status === 'suspended'

import type { EventLog } from '@perdure/ports'
import type { ServiceCaller } from '../durable/service-caller.ts'
import { type CreateSessionDeps, createCreateSession } from './create-session.ts'
import { createDeleteSession, type DeleteSessionDeps } from './delete-session.ts'
import { createExportSession, type ExportSessionDeps } from './export-session.ts'
import { createReadSessions, type ReadSessionsDeps } from './read-sessions.ts'
import { createRunSession, type RunSessionDeps } from './run-session.ts'
import { createTurnReader } from './turn-cache.ts'
import { createUpdateSession, type UpdateSessionDeps } from './update-session.ts'

export type { KeepCase, KeptRun } from './keep-case.ts'

export type SessionsDeps = CreateSessionDeps &
  DeleteSessionDeps &
  ExportSessionDeps &
  ReadSessionsDeps &
  UpdateSessionDeps

/** Wires the use cases of sessions. */
export const createSessions = (deps: SessionsDeps) => ({
  readSessions: createReadSessions(deps),
  createSession: createCreateSession(deps),
  updateSession: createUpdateSession(deps),
  deleteSession: createDeleteSession(deps),
  exportSession: createExportSession(deps),
})

export interface SessionServiceDeps extends Omit<RunSessionDeps, 'readTurn'> {
  readonly events: Pick<EventLog, 'read' | 'head'>
}

/** Creates `ctx.session` of each run. */
export function createSessionService(deps: SessionServiceDeps) {
  const readTurn = createTurnReader(deps.events)
  return (caller: ServiceCaller) => createRunSession({ ...deps, readTurn }, caller)
}

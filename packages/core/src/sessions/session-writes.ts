import {
  AppError,
  EVERY_ROW,
  type IdGenerator,
  type RunRecord,
  type SessionStore,
  toJsonText,
  type Write,
} from '@perdure/ports'
import { authorizeSessionUse } from '../auth/authorize-session-use.ts'
import type { Principal } from '../auth/principal.ts'
import { messageWrites } from './message-writes.ts'
import { insertSession } from './session-insertion.ts'

export interface SessionWritesDeps {
  readonly sessions: SessionStore
  readonly ids: IdGenerator
}

/**
 * The writes of a new run to its session: creates the session on first use, and appends the input of the run, if any,
 * as a message of the user.
 *
 * @throws AppError `session-not-found` if the session exists and the principal may not use it
 */
export async function sessionWrites(
  { sessions, ids }: SessionWritesDeps,
  run: RunRecord,
  principal: Principal,
): Promise<readonly Write[]> {
  if (run.sessionId === undefined) return []
  const session = await sessions.find(run.sessionId, EVERY_ROW)
  if (session !== undefined && !authorizeSessionUse(principal, session)) throw new AppError('session-not-found')
  const touched =
    session === undefined ? [] : [{ type: 'session.touch', id: run.sessionId, at: run.createdAt } as const]
  const message =
    run.input === NO_INPUT
      ? touched
      : messageWrites({
          id: ids.newId('message'),
          sessionId: run.sessionId,
          role: 'user',
          content: run.input,
          runId: run.id,
          createdAt: run.createdAt,
        })
  return session === undefined ? [...createWrites(run, run.sessionId), ...message] : message
}

/** The stored input of a run that was started without an input. */
const NO_INPUT = toJsonText(null)

function createWrites(run: RunRecord, id: string): readonly Write[] {
  const { owner, userId, createdAt } = run
  const agentId = run.kind === 'agent' ? run.targetId : undefined
  return insertSession({ id, owner, userId, agentId, metadata: {}, createdAt, updatedAt: createdAt })
}

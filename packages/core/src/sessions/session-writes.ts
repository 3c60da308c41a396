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
 * What a new run writes to the session it names: the session itself on first use, and its input, if it has one, as the user's message.
 *
 * @throws AppError `session-not-found` when the session exists and the principal may not use it
 */
export async function sessionWrites(
  { sessions, ids }: SessionWritesDeps,
  run: RunRecord,
  principal: Principal,
): Promise<readonly Write[]> {
  if (run.sessionId === undefined) return []
  const known = await sessions.find(run.sessionId, EVERY_ROW)
  if (known !== undefined && !authorizeSessionUse(principal, known)) throw new AppError('session-not-found')
  const touched = known === undefined ? [] : [{ type: 'session.touch', id: run.sessionId, at: run.createdAt } as const]
  const message =
    run.input === NOTHING
      ? touched
      : messageWrites({
          id: ids.newId('message'),
          sessionId: run.sessionId,
          role: 'user',
          content: run.input,
          runId: run.id,
          createdAt: run.createdAt,
        })
  return known === undefined ? [...createWrites(run, run.sessionId), ...message] : message
}

/** What a run without input is given. */
const NOTHING = toJsonText(null)

function createWrites(run: RunRecord, id: string): readonly Write[] {
  const { owner, userId, createdAt } = run
  const agentId = run.kind === 'agent' ? run.targetId : undefined
  return insertSession({ id, owner, userId, agentId, metadata: {}, createdAt, updatedAt: createdAt })
}

import { type IdGenerator, type RunRecord, type SessionRecord, toJsonText, type Write } from '@perdure/ports'
import type { FindSessionForRunDeps } from './find-session-for-run.ts'
import { messageWrites } from './message-writes.ts'
import { insertSession } from './session-insertion.ts'

export interface SessionWritesDeps extends FindSessionForRunDeps {
  readonly ids: IdGenerator
}

/**
 * The writes of a new run to its session: creates the session on first use, and appends the input of the run, if any,
 * as a message of the user.
 *
 * @param session the stored session; `undefined` if it does not exist yet
 */
export function sessionWrites(
  deps: Pick<SessionWritesDeps, 'ids'>,
  run: RunRecord,
  session: SessionRecord | undefined,
): readonly Write[] {
  if (run.sessionId === undefined) return []
  const touched =
    session === undefined ? [] : [{ type: 'session.touch', id: run.sessionId, at: run.createdAt } as const]
  const message =
    run.input === NO_INPUT
      ? touched
      : messageWrites({
          id: deps.ids.newId('message'),
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

import { type IdGenerator, type RunRecord, type SessionRecord, toJsonText, type Write } from '@perdure/ports'
import type { FindSessionForRunDeps } from './find-session-for-run.ts'
import { messageWrites } from './message-writes.ts'
import { insertSession } from './session-insertion.ts'

export interface SessionWritesDeps extends FindSessionForRunDeps {
  readonly ids: IdGenerator
}

export interface RunInSession {
  /** The stored session; `undefined` if it does not exist yet. */
  readonly session: SessionRecord | undefined
  /** The metadata of a session that the run creates. */
  readonly metadata?: SessionRecord['metadata'] | undefined
}

/**
 * The writes of a new run to its session: creates the session on first use, and appends the input of the run, if any,
 * as a message of the user.
 */
export function sessionWrites(
  deps: Pick<SessionWritesDeps, 'ids'>,
  run: RunRecord,
  { session, metadata }: RunInSession,
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
  return session === undefined ? [...createWrites(run, run.sessionId, metadata), ...message] : message
}

/** The stored input of a run that was started without an input. */
const NO_INPUT = toJsonText(null)

function createWrites(run: RunRecord, id: string, metadata: SessionRecord['metadata'] = {}): readonly Write[] {
  const { owner, userId, createdAt } = run
  const agentId = run.kind === 'agent' ? run.targetId : undefined
  return insertSession({ id, owner, userId, agentId, metadata, createdAt, updatedAt: createdAt })
}

import { type IdGenerator, type RunRecord, type SessionRecord, toJsonText, type Write } from '@perdure/ports'
import { isTurn } from '../runs/turn.ts'
import { EXTERNAL_CHAT_ID } from './chat-session-id.ts'
import type { FindSessionForRunDeps } from './find-session-for-run.ts'
import { titleOf } from './message-brief.ts'
import { messageWrites } from './message-writes.ts'
import { insertSession } from './session-insertion.ts'

export interface SessionWritesDeps extends FindSessionForRunDeps {
  readonly ids: IdGenerator
}

export interface RunInSession {
  /** The stored session; `undefined` if it does not exist yet. */
  readonly session: SessionRecord | undefined
  /** The metadata of a session that the run creates; with the id of a chat, the run is a turn of a chat. */
  readonly metadata?: SessionRecord['metadata'] | undefined
}

/**
 * The writes of a new run to its session: creates the session on first use, makes it a chat with the first turn of one,
 * and appends the input of the run, if any, as a message of the user.
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
      : messageWrites(run, {
          id: deps.ids.newId('message'),
          sessionId: run.sessionId,
          role: 'user',
          content: run.input,
          runId: run.id,
          createdAt: run.createdAt,
        })
  const created = session === undefined ? createWrites(run, run.sessionId, metadata) : []
  return [...created, ...chatWrites(run, run.sessionId, { session, metadata }), ...message]
}

/** A session that knows the id of its chat was made a chat in the same commit. */
function chatWrites(run: RunRecord, sessionId: string, { session, metadata = {} }: RunInSession): readonly Write[] {
  const chatId = metadata[EXTERNAL_CHAT_ID]
  if (chatId === undefined || !isTurn(run) || session?.metadata[EXTERNAL_CHAT_ID] !== undefined) return []
  const { owner } = session ?? run
  const { targetId: agentId, createdAt } = run
  const chat = { sessionId, chatId, agentId, owner, firstText: titleOf(run.input), createdAt }
  return [{ type: 'chat.insert', chat }]
}

/** The stored input of a run that was started without an input. */
const NO_INPUT = toJsonText(null)

function createWrites(run: RunRecord, id: string, metadata: SessionRecord['metadata'] = {}): readonly Write[] {
  const { owner, userId, createdAt } = run
  const agentId = run.kind === 'agent' ? run.targetId : undefined
  return insertSession({ id, owner, userId, agentId, metadata, createdAt, updatedAt: createdAt })
}

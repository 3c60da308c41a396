import type { RunStore, SessionStore, Visibility } from '@perdure/ports'
import { auditWrite } from '../audit/audit-write.ts'
import type { Principal } from '../auth/principal.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import type { AbortRun } from '../runs/abort-request.ts'
import { abortRuns } from '../runs/abort-runs.ts'
import { findSession } from './read-sessions.ts'
import { sessionDeletion } from './session-deletion.ts'

export interface DeleteSessionDeps extends CommitOnceDeps {
  readonly sessions: SessionStore
  readonly runs: RunStore
  readonly abortRun: AbortRun
}

/**
 * Deletes a session and everything that belongs to it, after aborting its active runs. Only the event
 * `session.deleted`, which ends the streams of the session, and the audit entry remain. Both name the session but
 * contain none of its content.
 *
 * @throws PerdureError `session-not-found`
 */
export type DeleteSession = (request: {
  readonly sessionId: string
  readonly visibility: Visibility
  readonly principal: Principal
  readonly key?: KeyedRequest | undefined
  /** The answer, which is also stored under the key; by default 204. It must not contain content of the session. */
  readonly reply?: Reply
}) => Promise<Reply>

export function createDeleteSession(deps: DeleteSessionDeps): DeleteSession {
  const { sessions, clock } = deps

  return async ({ sessionId, visibility, principal, key, reply = { status: 204 } }) => {
    const once = await commitOnce(deps, key, async () => {
      const { owner } = await findSession(sessions, sessionId, visibility)
      await abortRuns(deps, { sessionId }, 'the session is deleted')
      const at = clock.now()
      return {
        writes: [
          ...sessionDeletion({ id: sessionId, owner }, { at }),
          auditWrite(principal, { at, action: 'sessions.delete', target: sessionId }),
        ],
        reply,
        remember: true,
        contentOf: null,
      }
    })
    return once.kind === 'replayed' ? once.reply : once.decision.reply
  }
}

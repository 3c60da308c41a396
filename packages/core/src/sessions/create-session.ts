import { EVERY_ROW, type IdGenerator, perdureError, type SessionRecord, type SessionStore } from '@perdure/ports'
import type { Principal } from '../auth/principal.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { CHAT_SESSION_HINT, isChatSessionId } from './chat-session-id.ts'
import { insertSession } from './session-insertion.ts'
import { toSessionResource } from './session-resource.ts'

export interface CreateSessionDeps extends CommitOnceDeps {
  readonly sessions: SessionStore
  readonly ids: IdGenerator
  readonly basePath: string
}

export interface NewSession extends Partial<Omit<SessionRecord, 'owner' | 'createdAt' | 'updatedAt'>> {}

/** The same whoever owns the session with this id. */
const TAKEN_HINT = 'choose an id with a part that cannot be guessed, or omit id'

/** Creates a session owned by the caller, under the given id or a new id. @throws PerdureError `session-exists` */
export type CreateSession = (request: {
  readonly body: NewSession
  readonly principal: Principal
  readonly key?: KeyedRequest | undefined
  /** Makes the answer, which is also stored under the key. By default, the answer contains the session. */
  readonly replyOf?: (session: SessionRecord) => Reply
}) => Promise<Reply>

export function createCreateSession(deps: CreateSessionDeps): CreateSession {
  const { sessions, ids, clock, basePath } = deps

  const created = (session: SessionRecord): Reply => ({
    ...{ status: 201, body: toSessionResource(session) },
    location: `${basePath}/sessions/${session.id}`,
  })

  return async ({ body, principal, key, replyOf = created }) => {
    const once = await commitOnce(deps, key, async () => {
      const { id = ids.newId('session'), metadata = {}, ...rest } = body
      if (isChatSessionId(id)) throw perdureError('session-exists', { hint: CHAT_SESSION_HINT })
      if ((await sessions.find(id, EVERY_ROW)) !== undefined) throw perdureError('session-exists', { hint: TAKEN_HINT })
      const now = clock.now()
      const session: SessionRecord = {
        ...{ id, owner: principal.subject, ...rest, metadata },
        createdAt: now,
        updatedAt: now,
      }
      return {
        writes: insertSession(session),
        reply: replyOf(session),
        remember: true,
        contentOf: id,
      }
    })
    return once.kind === 'replayed' ? once.reply : once.decision.reply
  }
}

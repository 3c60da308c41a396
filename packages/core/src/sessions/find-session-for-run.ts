import { EVERY_ROW, perdureError, type SessionRecord, type SessionStore } from '@perdure/ports'
import { authorizeSessionCreation, authorizeSessionUse } from '../auth/authorize-session-use.ts'
import type { Principal } from '../auth/principal.ts'
import { CHAT_SESSION_HINT, isChatSessionId } from './chat-session-id.ts'

export interface FindSessionForRunDeps {
  readonly sessions: Pick<SessionStore, 'find'>
  /** Whether a run may create the session that it names without `sessions:write`. Default: false. */
  readonly createSessionOnInvoke?: boolean | undefined
  /** Whether the session must belong to the principal, whatever its scopes are. Default: false. */
  readonly ownOnly?: boolean | undefined
}

/**
 * Finds the session that a new run or a trigger names; `undefined` if the first run creates it. A session that the
 * principal may not use and a missing session that it may not create get the same answer.
 *
 * @throws PerdureError `session-not-found`
 */
export async function findSessionForRun(
  { sessions, createSessionOnInvoke = false, ownOnly = false }: FindSessionForRunDeps,
  principal: Principal,
  sessionId: string,
): Promise<SessionRecord | undefined> {
  const isReserved = !ownOnly && isChatSessionId(sessionId)
  const mayCreate = !isReserved && (createSessionOnInvoke || authorizeSessionCreation(principal, sessionId))
  const mayUse = (found: SessionRecord) =>
    ownOnly ? found.owner === principal.subject : authorizeSessionUse(principal, found)
  const session = await sessions.find(sessionId, EVERY_ROW)
  if (session === undefined ? mayCreate : mayUse(session)) return session
  const hint = isReserved ? CHAT_SESSION_HINT : mayCreate ? otherSessionHint(sessionId) : CREATION_HINT
  throw perdureError('session-not-found', { hint })
}

/** The hints depend on the principal alone, so that they do not tell whether the session exists. */
const CREATION_HINT =
  'name a session that the caller owns, or use a token with the scope sessions:write:own to create the session'

const otherSessionHint = (id: string) => `name another session, or use a token with the scope sessions:write:${id}`

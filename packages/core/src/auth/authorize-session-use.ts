import { EVERY_ROW, isRefusal, type SessionRecord, type Visibility } from '@perdure/ports'
import { authorize } from './authorize.ts'
import type { Principal } from './principal.ts'

/** Whether a run of this principal may join the session: the principal must own it or hold `sessions:write` for it. */
export function authorizeSessionUse(principal: Principal, session: SessionRecord): boolean {
  return session.owner === principal.subject || writeAccess(principal, session.id) === EVERY_ROW
}

/** Whether a run of this principal may create a session with this id: it needs `sessions:write` for it, or for its own. */
export function authorizeSessionCreation(principal: Principal, sessionId: string): boolean {
  return writeAccess(principal, sessionId) !== undefined
}

function writeAccess(principal: Principal, sessionId: string): Visibility | undefined {
  try {
    return authorize(principal, 'sessions:write:{sessionId}', { sessionId })
  } catch (error) {
    if (isRefusal(error) && error.code === 'scope-denied') return undefined
    throw error
  }
}

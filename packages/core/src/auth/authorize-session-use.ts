import { AppError, EVERY_ROW, type SessionRecord, type Visibility } from '@perdure/ports'
import { authorize } from './authorize.ts'
import type { Principal } from './principal.ts'

/** Whether a run of this principal may join the session: the principal must own it or hold `sessions:write` for it. */
export function authorizeSessionUse(principal: Principal, session: SessionRecord): boolean {
  if (session.owner === principal.subject) return true
  try {
    const visibility: Visibility = authorize(principal, 'sessions:write:{sessionId}', { sessionId: session.id })
    return visibility === EVERY_ROW
  } catch (error) {
    if (error instanceof AppError && error.id === 'scope-denied') return false
    throw error
  }
}

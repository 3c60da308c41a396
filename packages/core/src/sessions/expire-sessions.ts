import type { Clock, EpochMs, SessionRecord, SessionStore, UnitOfWork } from '@perdure/ports'
import { sessionDeletion } from './session-deletion.ts'

export interface ExpireSessionsDeps {
  readonly sessions: Pick<SessionStore, 'idleSince'>
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
}

/**
 * Deletes a bounded number of sessions whose last activity is at or before the given instant. One commit deletes a
 * session with everything that belongs to it and writes the event and the audit entry of the deletion. Skips a session
 * that has an active run or was used again in the meantime. Resolves with the number of deleted sessions and whether
 * there may be more.
 */
export type ExpireSessions = (idleSince: EpochMs) => Promise<{ readonly deleted: number; readonly hasMore: boolean }>

const SESSION_BATCH = 50

export function createExpireSessions({ sessions, unitOfWork, clock }: ExpireSessionsDeps): ExpireSessions {
  let after: SessionRecord | undefined

  const expire = async ({ id, owner }: SessionRecord, idleSince: EpochMs): Promise<boolean> => {
    const at = clock.now()
    const actor = { kind: 'system', subject: 'retention' } as const
    const { committed } = await unitOfWork.commit([
      ...sessionDeletion({ id, owner }, { at, idleSince }),
      { type: 'audit.append', entry: { at, actor, action: 'sessions.delete', target: id, decision: 'allowed' } },
    ])
    return committed
  }

  return async (idleSince) => {
    const page = await sessions.idleSince({ until: idleSince, limit: SESSION_BATCH, after })
    let deleted = 0
    for (const session of page) if (await expire(session, idleSince)) deleted++
    // The next call continues after the skipped sessions; at the end, it starts over from the first session.
    after = page.length < SESSION_BATCH ? undefined : page.at(-1)
    return { deleted, hasMore: after !== undefined }
  }
}

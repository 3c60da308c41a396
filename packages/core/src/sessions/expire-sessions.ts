import type { Clock, EpochMs, SessionRecord, SessionStore, UnitOfWork } from '@perdure/ports'
import { sessionDeletion } from './session-deletion.ts'

export interface ExpireSessionsDeps {
  readonly sessions: Pick<SessionStore, 'idleSince'>
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
}

/**
 * Deletes a bounded number of sessions whose last activity is at or before the instant, each in one commit, with all that
 * belongs to it, an event and a link of the audit chain. One that a run waits in stays, as does one that somebody has come
 * back to in the meantime. Resolves with how many were deleted, and whether there may be more.
 */
export type ExpireSessions = (idleSince: EpochMs) => Promise<{ readonly deleted: number; readonly hasMore: boolean }>

const AT_ONCE = 50

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
    const page = await sessions.idleSince({ until: idleSince, limit: AT_ONCE, after })
    let deleted = 0
    for (const session of page) if (await expire(session, idleSince)) deleted++
    // Those that stay are passed by, and looked at again from the beginning next time.
    after = page.length < AT_ONCE ? undefined : page.at(-1)
    return { deleted, hasMore: after !== undefined }
  }
}

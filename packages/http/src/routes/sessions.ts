import type { sessionOperations } from '@berth/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'
import { replayWith } from './replay.ts'

/** `/sessions`: what a conversation has recorded, and what happens in it. */
export const sessionRoutes = (
  deps: Pick<UseCases, 'replay' | 'openReplayStream' | 'openSessionStream'>,
): Handlers<typeof sessionOperations> => ({
  getSessionEvents: ({ params: { sessionId }, query, principal, visibility, lastEventId, hangUp }) =>
    deps.openSessionStream({
      ...{ sessionId, visibility, tokenId: principal.tokenId, hangUp },
      lastEventId: lastEventId || query.lastEventId || undefined,
    }),
  replaySession: replayWith(deps, ({ sessionId }: { readonly sessionId: string }) => ({ sessionId })),
})

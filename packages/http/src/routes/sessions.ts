import type { sessionOperations } from '@berth/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'
import { replayWith } from './replay.ts'

/** `/sessions`: what a conversation has recorded. */
export const sessionRoutes = (
  deps: Pick<UseCases, 'replay' | 'openReplayStream'>,
): Handlers<typeof sessionOperations> => ({
  replaySession: replayWith(deps, ({ sessionId }: { readonly sessionId: string }) => ({ sessionId })),
})

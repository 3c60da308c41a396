import type { Visibility } from '@perdure/ports'
import type { Principal } from '../auth/principal.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import type { DeleteSession } from '../sessions/delete-session.ts'
import { type FindChatDeps, findChat } from './find-chat.ts'

export interface DeleteChatDeps extends FindChatDeps {
  readonly deleteSession: DeleteSession
}

/** Deletes the session of a chat, as `DeleteSession` does. @throws PerdureError `session-not-found` */
export type DeleteChat = (request: {
  readonly agentId: string
  readonly chatId: string
  readonly principal: Principal
  readonly visibility: Visibility
  readonly key?: KeyedRequest | undefined
}) => Promise<Reply>

export function createDeleteChat(deps: DeleteChatDeps): DeleteChat {
  return async ({ agentId, chatId, principal, visibility, key }) => {
    const { sessionId } = await findChat(deps, { agentId, chatId, subject: principal.subject, visibility })
    return deps.deleteSession({ sessionId, principal, visibility, key })
  }
}

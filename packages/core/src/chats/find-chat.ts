import { type ChatStore, type ListedChat, perdureError, type Visibility } from '@perdure/ports'
import { type FindChatSessionDeps, findChatSession } from '../sessions/chat-session-id.ts'

export interface FindChatDeps extends FindChatSessionDeps {
  readonly chats: ChatStore
}

/** Names a chat: by the id that its owner's client chose, or by the id of its session. */
export interface ChatName {
  readonly agentId: string
  readonly chatId: string
  /** Whose client chose the id. */
  readonly subject: string
  readonly visibility: Visibility
}

/** @throws PerdureError `session-not-found`, also for a chat of another agent and for one that the caller may not see */
export async function findChat(deps: FindChatDeps, name: ChatName): Promise<ListedChat> {
  const { agentId, chatId, subject, visibility } = name
  const named = await deps.chats.find(chatId, visibility)
  if (named?.agentId === agentId) return named
  const { id } = await findChatSession(deps, subject, chatId)
  const chat = await deps.chats.find(id, visibility)
  if (chat?.agentId === agentId) return chat
  throw perdureError('session-not-found', {
    message: 'the agent has no such chat',
    hint: 'list the chats with GET /agents/:agentId/chats; a chat begins with its first message',
  })
}

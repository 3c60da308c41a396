import type { DeleteSession } from '../sessions/delete-session.ts'
import { createDeleteChat } from './delete-chat.ts'
import { createForkChat, type ForkChatDeps } from './fork-chat.ts'
import { createReadChats, type ReadChatsDeps } from './read-chats.ts'
import { createUpdateChat, type UpdateChatDeps } from './update-chat.ts'

export type { DeleteChat } from './delete-chat.ts'
export type { ForkChat } from './fork-chat.ts'
export type { ReadChats } from './read-chats.ts'
export type { UpdateChat } from './update-chat.ts'

export type ChatsDeps = ReadChatsDeps & UpdateChatDeps & ForkChatDeps & { readonly deleteSession: DeleteSession }

/** Wires the use cases of chats. */
export const createChats = (deps: ChatsDeps) => ({
  readChats: createReadChats(deps),
  updateChat: createUpdateChat(deps),
  deleteChat: createDeleteChat(deps),
  forkChat: createForkChat(deps),
})

import type { NewChat } from '@perdure/ports'
import { BUILT_AT } from './builders.ts'

/** The session from `aSession()` as a chat with the agent `echo`; only its required fields are set. */
export const aChat = (over: Partial<NewChat> = {}): NewChat => ({
  sessionId: 'ses_00000000000000000000000001',
  chatId: 'chat-1',
  agentId: 'echo',
  owner: 'alice',
  firstText: 'hello',
  createdAt: BUILT_AT,
  ...over,
})

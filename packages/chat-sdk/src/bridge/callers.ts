import type { PerdureClient } from '@perdure/client'
import type { ChatServer } from '../chat-server.ts'
import type { ChatUser } from './chat-event.ts'
import { sessionIdOf, subjectOf, wakeEventOf } from './chat-names.ts'

/** The clients with which the bridge calls the server: each has only the rights of what it stands for. */
export interface Callers {
  /** The user, in one thread. With `decidesForOthers`, also for approvals of runs that others own. */
  user(user: ChatUser, threadId: string, options?: { readonly decidesForOthers?: boolean }): PerdureClient
  /** The bridge itself, which finds the runs of chats. */
  bridge(): PerdureClient
  /** Wakes the follower of a run, as the bridge. */
  wake(runId: string): Promise<void>
}

export function createCallers(server: () => Promise<ChatServer>, agentId: string) {
  return async (): Promise<Callers> => {
    const { client } = await server()
    const bridge = () => client({ subject: 'chat-sdk', scopes: ['events:emit:*', 'runs:read'] })
    return {
      user(user, threadId, { decidesForOthers = false } = {}) {
        const sessionId = sessionIdOf(threadId)
        const approvals = decidesForOthers ? '*' : 'own'
        return client({
          subject: subjectOf(user),
          name: user.name,
          scopes: [
            `agents:invoke:${agentId}`,
            'runs:read:own',
            `sessions:read:${sessionId}`,
            `sessions:write:${sessionId}`,
            `approvals:read:${approvals}`,
            `approvals:resolve:${approvals}`,
          ],
        })
      },
      bridge,
      wake: async (runId) => void (await bridge().events.emit(wakeEventOf(runId), {})),
    }
  }
}

import type { chatOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'

type Deps = Pick<UseCases, 'readChats' | 'updateChat' | 'deleteChat' | 'forkChat'>

/** `/agents/:agentId/chats`: the conversations of users with an agent. */
export const chatRoutes = ({ readChats, updateChat, deleteChat, forkChat }: Deps): Handlers<typeof chatOperations> => ({
  async listChats({ params, query, visibility }) {
    return { status: 200, body: await readChats.list(params.agentId, query, visibility) }
  },
  async getChat({ params, visibility, principal: { subject } }) {
    return { status: 200, body: await readChats.get({ ...params, visibility, subject }) }
  },
  updateChat: ({ params, body, visibility, principal: { subject }, key }) =>
    updateChat({ name: { ...params, visibility, subject }, change: body, key }),
  deleteChat: ({ params, visibility, principal, key }) => deleteChat({ ...params, visibility, principal, key }),
  forkChat: ({ params, body, visibility, principal, key }) =>
    forkChat({ name: { ...params, visibility }, body, principal, key }),
})

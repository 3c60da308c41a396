import type { nodeOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'

/** `/nodes`: the servers that share a storage. */
export const nodeRoutes = ({ manageNodes }: Pick<UseCases, 'manageNodes'>): Handlers<typeof nodeOperations> => ({
  listNodes: async ({ query }) => ({ status: 200, body: await manageNodes.list(query) }),
  drainNode: ({ params, principal, key }) => manageNodes.drain({ ...params, principal, key }),
})

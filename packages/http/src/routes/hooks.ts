import type { hookOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'
import { textAnswer } from '../response/text-answer.ts'

type Deps = Pick<UseCases, 'receiveHook' | 'manageHooks'>

const TEXT = { 'Content-Type': 'text/plain; charset=utf-8' }

/** `/hooks`: requests of other services, and what the hooks have received. */
export const hookRoutes = ({ receiveHook, manageHooks }: Deps): Handlers<typeof hookOperations> => ({
  listHooks: ({ query }) => ({ status: 200, body: manageHooks.list(query) }),
  async receiveHook({ params, header, readRaw }) {
    const received = await receiveHook({ hookId: params.hookId, header, readBody: readRaw })
    return textAnswer(received.kind === 'challenge' ? received.text : '', 200, TEXT)
  },
  getHook: ({ params }) => ({ status: 200, body: manageHooks.get(params.hookId) }),
  testHook: ({ params, body, principal, key }) => manageHooks.test({ ...params, ...body, principal, key }),
  listHookDeliveries: async ({ params, query }) => ({
    status: 200,
    body: await manageHooks.listDeliveries(params.hookId, query),
  }),
  getHookDelivery: async ({ params }) => ({
    status: 200,
    body: await manageHooks.getDelivery(params.hookId, params.hookDeliveryId),
  }),
  replayHookDelivery: ({ params, principal, key }) => manageHooks.replay({ ...params, principal, key }),
})

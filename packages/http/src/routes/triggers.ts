import type { triggerOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'

type Deps = Pick<UseCases, 'readTriggers' | 'createTrigger' | 'manageTriggers' | 'fireByHand'>

/** `/triggers`: triggers, their administration and their fires. */
export const triggerRoutes = ({
  readTriggers,
  createTrigger,
  manageTriggers,
  fireByHand,
}: Deps): Handlers<typeof triggerOperations> => ({
  listTriggers: async ({ query }) => ({ status: 200, body: await readTriggers.list(query) }),
  createTrigger: ({ body, principal, key }) => createTrigger({ definition: body, principal, key }),
  pruneTriggers: ({ principal, key }) => manageTriggers.prune({ principal, key }),
  getTrigger: async ({ params }) => ({ status: 200, body: await readTriggers.get(params.triggerId) }),
  deleteTrigger: ({ params, principal, key }) => manageTriggers.remove({ ...params, principal, key }),
  fireTrigger: ({ params, principal, key, traceparent }) => fireByHand({ ...params, principal, key, traceparent }),
  disableTrigger: ({ params, principal, key }) => manageTriggers.disable({ ...params, principal, key }),
  enableTrigger: ({ params, principal, key }) => manageTriggers.enable({ ...params, principal, key }),
  listUpcomingFires: async ({ params, query }) => ({
    status: 200,
    body: await readTriggers.next(params.triggerId, { limit: query.count, since: query.since }),
  }),
  listFires: async ({ params, query }) => ({ status: 200, body: await readTriggers.fires(params.triggerId, query) }),
})

import type { consolidatorOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'

/** `/consolidator`: the consolidator's queue, dead letters and budget. */
export const consolidatorRoutes = ({
  readConsolidator,
  queueConsolidation,
}: Pick<UseCases, 'readConsolidator' | 'queueConsolidation'>): Handlers<typeof consolidatorOperations> => ({
  getConsolidator: async () => ({ status: 200, body: await readConsolidator.get() }),
  runConsolidator: ({ body, key }) => queueConsolidation.queue({ ...body, key }),
  listDeadLetters: async ({ query }) => ({ status: 200, body: await readConsolidator.deadLetters(query) }),
  retryDeadLetter: ({ params, key }) => queueConsolidation.retry({ id: params.deadLetterId, key }),
})

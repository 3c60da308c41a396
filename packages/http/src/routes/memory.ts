import type { memoryOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'

/** `/memory`: facts, blocks, and conflicts between facts. */
export const memoryRoutes = ({
  searchMemory,
  readMemory,
  writeFacts,
  writeBlocks,
  resolveMemoryConflict,
}: Pick<UseCases, 'searchMemory' | 'readMemory' | 'writeFacts' | 'writeBlocks' | 'resolveMemoryConflict'>): Handlers<
  typeof memoryOperations
> => ({
  searchMemory: async ({ body, visibility }) => ({ status: 200, body: await searchMemory({ ...body, visibility }) }),
  async listFacts({ query: { namespace, tag, ...page }, visibility }) {
    return { status: 200, body: await readMemory.listFacts({ namespace, tag }, page, visibility) }
  },
  createFact: ({ body, principal, key }) => writeFacts.create({ input: body, owner: principal.subject, key }),
  getFact: async ({ params, visibility }) => ({ status: 200, body: await readMemory.fact(params.factId, visibility) }),
  updateFact: ({ params, body, visibility, key }) =>
    writeFacts.update({ id: params.factId, change: body, visibility, key }),
  deleteFact: ({ params, visibility, key }) => writeFacts.remove({ id: params.factId, visibility, key }),
  async listBlocks({ query: { namespace, ...page }, visibility }) {
    return { status: 200, body: await readMemory.listBlocks(namespace, page, visibility) }
  },
  putBlock: ({ params, body, principal, key }) =>
    writeBlocks.put({ label: params.label, owner: principal.subject, input: body, key }),
  deleteBlock: ({ params, query, principal, key }) =>
    writeBlocks.remove({ label: params.label, owner: principal.subject, ...query, key }),
  async listConflicts({ query: { namespace, ...page }, visibility }) {
    return { status: 200, body: await readMemory.listConflicts(namespace, page, visibility) }
  },
  resolveConflict: ({ params, body, principal, visibility, key }) =>
    resolveMemoryConflict({ ...body, conflictId: params.conflictId, by: principal.subject, visibility, key }),
})

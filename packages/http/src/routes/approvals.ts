import type { approvalOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'

/** `/approvals`: the decisions that runs wait for. */
export const approvalRoutes = ({
  readApprovals,
  resolveApproval,
}: Pick<UseCases, 'readApprovals' | 'resolveApproval'>): Handlers<typeof approvalOperations> => ({
  async listApprovals({ query, visibility }) {
    const { limit, cursor, order, ...filter } = query
    return { status: 200, body: await readApprovals.list(filter, { limit, cursor, order }, visibility) }
  },
  getApproval: async ({ params, visibility }) => ({
    status: 200,
    body: await readApprovals.get(params.approvalId, visibility),
  }),
  resolveApproval: ({ params: { approvalId }, body: { approved, reason, payload }, principal, visibility, key }) =>
    resolveApproval({
      ...{ approvalId, approved, reason, payload, visibility, key },
      by: principal.subject,
      tokenId: principal.tokenId,
      origin: principal.origin,
    }),
})

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
  resolveApproval: ({
    params: { approvalId },
    body: { approved, reason, payload, args },
    principal,
    visibility,
    key,
  }) =>
    resolveApproval({
      ...{ approvalId, approved, reason, payload, args, visibility, key },
      by: principal.subject,
      scopes: principal.scopes,
      tokenId: principal.tokenId,
      origin: principal.origin,
    }),
})

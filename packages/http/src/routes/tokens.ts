import type { tokenOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'

/** `/tokens`: minting, rotating and revoking tokens. */
export const tokenRoutes = ({ tokens }: Pick<UseCases, 'tokens'>): Handlers<typeof tokenOperations> => ({
  listTokens: async ({ query }) => ({ status: 200, body: await tokens.list(query) }),
  getOwnToken: async ({ principal }) => ({ status: 200, body: await tokens.self(principal) }),
  getToken: async ({ params }) => ({ status: 200, body: await tokens.get(params.tokenId) }),
  mintToken: ({ body, principal, key }) => tokens.mint({ ...body, principal, key }),
  rotateToken: ({ params, body, principal, key }) =>
    tokens.rotate({ ...body, tokenId: params.tokenId, principal, key }),
  revokeToken: ({ params, principal, key }) => tokens.revoke({ tokenId: params.tokenId, principal, key }),
})

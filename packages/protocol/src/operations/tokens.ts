import * as v from 'valibot'
import type { OperationTable } from '../operation.ts'
import { listOf, PageEntries } from '../resources/list.ts'
import { MintedToken, MintTokenRequest, RevokedToken, RotateTokenRequest, Token } from '../resources/tokens.ts'

export const tokenOperations = {
  listTokens: {
    id: 'tokens.list',
    method: 'GET',
    path: '/tokens',
    scope: 'tokens:read',
    idempotent: false,
    query: v.strictObject(PageEntries),
    responses: { 200: { schema: listOf(Token), description: 'Tokens without their secrets, newest first.' } },
    errors: [],
    summary: 'List tokens.',
  },
  getOwnToken: {
    id: 'tokens.self',
    method: 'GET',
    path: '/tokens/self',
    scope: 'principal',
    idempotent: false,
    responses: { 200: { schema: Token, description: 'The token of this request.' } },
    errors: ['token-not-found'],
    summary: 'Read the token of this request.',
  },
  getToken: {
    id: 'tokens.get',
    method: 'GET',
    path: '/tokens/:tokenId',
    scope: 'tokens:read:{tokenId}',
    idempotent: false,
    responses: { 200: { schema: Token, description: 'The token without its secret.' } },
    errors: ['token-not-found'],
    summary: 'Read a token.',
  },
  mintToken: {
    id: 'tokens.create',
    method: 'POST',
    path: '/tokens',
    scope: { anyOf: ['tokens:create', 'tokens:mint:sessions'] },
    idempotent: true,
    sealed: true,
    privileged: true,
    body: MintTokenRequest,
    responses: {
      201: {
        schema: MintedToken,
        location: true,
        description: 'The token with its secret, which no later response shows.',
      },
    },
    errors: ['scope-escalation-denied'],
    summary: 'Mint a token within the caller’s own scopes, or for a user of the caller.',
  },
  rotateToken: {
    id: 'tokens.rotate',
    method: 'POST',
    path: '/tokens/:tokenId/rotate',
    scope: 'tokens:revoke:{tokenId}',
    idempotent: true,
    sealed: true,
    privileged: true,
    body: RotateTokenRequest,
    responses: {
      201: {
        schema: MintedToken,
        location: true,
        description: 'The replacement token with its secret, which no later response shows.',
      },
    },
    errors: ['token-not-found', 'token-not-active', 'scope-escalation-denied'],
    summary: 'Replace a token with a new one that has the same subject and scopes.',
  },
  revokeToken: {
    id: 'tokens.revoke',
    method: 'DELETE',
    path: '/tokens/:tokenId',
    scope: 'tokens:revoke:{tokenId}',
    idempotent: true,
    privileged: true,
    responses: {
      200: { schema: RevokedToken, description: 'The token is revoked, and these webhooks end with it.' },
      204: { description: 'The token is revoked, and no webhook ends with it.' },
    },
    errors: ['token-not-found', 'scope-escalation-denied'],
    summary: 'Revoke a token and every token minted with it.',
  },
} as const satisfies OperationTable

import {
  MintedToken,
  MintTokenRequest,
  RevokedToken,
  RotateTokenRequest,
  Token,
  TokenEnvName,
} from '../resources/tokens.ts'
import { WsTicket } from '../resources/ws-ticket.ts'
import { type NamedSchemas, namedObject, namedValue } from './named-schema.ts'

const MEMBERS = {
  id: 'Id of the token, `tok_…`; not the token itself.',
  name: 'Name of the token.',
  subject: 'Owner of what the token creates.',
  env: 'Environment in the prefix of the token.',
  scopes: 'Scopes of the token.',
  createdAt: 'When the token was minted.',
  createdBy: 'Subject that minted the token, or the id of the console session in which it was minted.',
  expiresAt: 'When the token expires. Absent when it never expires.',
  lastUsedAt: 'When the token was last used. Absent when it was never used.',
  revokedAt: 'When the token was revoked. Absent when it was not.',
  last4: 'Last four characters of the token.',
  parentId: 'Id of the token that minted this token. Absent when the command line minted it.',
  replacedBy: 'Id of the token that replaces this token after a rotation. Absent when it was not rotated.',
}

const token = {
  id: 'tok_01k5x3v8qk7m2n9b4c6d8f0g1h',
  name: 'ci',
  subject: 'ci',
  env: 'live' as const,
  scopes: ['agents:invoke:support'],
  createdAt: '2026-03-02T09:00:00.000Z',
  createdBy: 'ops',
  expiresAt: '2026-06-01T00:00:00.000Z',
  last4: 'x9Qz',
}

export const tokenSchemas = {
  TokenEnv: namedValue(TokenEnvName, { description: 'Environment of a token, part of its prefix.', example: 'live' }),
  Token: namedObject(Token, {
    description: 'An access token, without its secret.',
    members: MEMBERS,
    example: token,
  }),
  MintedToken: namedObject(MintedToken, {
    description: 'A new access token. Only this response contains the token itself.',
    members: {
      ...MEMBERS,
      token: 'The token, to send as `Authorization: Bearer <token>`.',
      warnings:
        'One sentence for each scope that names an agent or workflow that is not registered. Absent when there is none.',
    },
    example: { ...token, token: 'perdure_live_v1_…x9Qz' },
  }),
  RevokedToken: namedObject(RevokedToken, {
    description: 'What ends with a revoked token.',
    members: {
      id: 'Id of the token.',
      webhooks:
        'Ids of the webhooks that are disabled, because they use the rights of the token or of one minted with it.',
    },
    example: { id: token.id, webhooks: ['billing'] },
  }),
  MintTokenRequest: namedObject(MintTokenRequest, {
    description: 'Mints a token within the scopes and the lifetime of the caller.',
    members: {
      name: 'Name of the token, 1 to 128 characters.',
      scopes: '1 to 64 scopes, each within the scopes of the caller.',
      subject: 'Owner of what the token creates, 1 to 128 characters. Default: the id of the new token.',
      env: 'Environment in the prefix of the token. Default: `live`.',
      expiresAt: 'When the token expires, at most the expiry of the caller. Default: the expiry of the caller.',
    },
    example: { name: 'ci', scopes: ['agents:invoke:support'], expiresAt: '2026-06-01T00:00:00.000Z' },
  }),
  RotateTokenRequest: namedObject(RotateTokenRequest, {
    description: 'Replaces a token with a new one that has the same subject and scopes.',
    members: {
      graceSeconds: 'Seconds for which the old token stays valid, from 0 to 86,400. Default: 0.',
      expiresAt: 'When the new token expires. Default: the expiry of the old token.',
    },
    example: { graceSeconds: 60 },
  }),
  WsTicket: namedObject(WsTicket, {
    description: 'A ticket for one WebSocket connection.',
    members: {
      ticket: 'The ticket, to offer as the subprotocol `ticket.<value>`. Valid once.',
      expiresAt: 'When the ticket expires.',
      ttlMs: 'Milliseconds until the ticket expires.',
    },
    example: { ticket: 'Zm9vYmFyYmF6', expiresAt: '2026-03-02T09:15:30.000Z', ttlMs: 30_000 },
  }),
} as const satisfies NamedSchemas

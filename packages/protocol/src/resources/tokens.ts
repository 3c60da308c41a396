import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'
import { isGrantable } from '../scopes.ts'
import { TOKEN_ENVS } from '../token-format.ts'

export const TokenEnvName = documented(v.picklist(TOKEN_ENVS), 'Environment of a token, part of its prefix.', 'live')
const Label = v.pipe(v.string(), v.minLength(1), v.maxLength(128))
const Grant = v.pipe(v.string(), v.check(isGrantable, 'is not a scope that can be granted'))

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

export const Token = documented(
  v.object({
    id: member(v.string(), 'Id of the token, `tok_…`; not the token itself.'),
    name: member(v.string(), 'Name of the token.'),
    subject: member(v.string(), 'Owner of what the token creates.'),
    env: member(TokenEnvName, 'Environment in the prefix of the token.'),
    scopes: member(v.array(v.string()), 'Scopes of the token.'),
    createdAt: member(Timestamp, 'When the token was minted.'),
    createdBy: member(
      v.string(),
      'Subject that minted the token, or the id of the console session in which it was minted.',
    ),
    expiresAt: member(v.optional(Timestamp), 'When the token expires. Absent when it never expires.'),
    lastUsedAt: member(v.optional(Timestamp), 'When the token was last used. Absent when it was never used.'),
    revokedAt: member(v.optional(Timestamp), 'When the token was revoked. Absent when it was not.'),
    last4: member(v.string(), 'Last four characters of the token.'),
    parentId: member(
      v.optional(v.string()),
      'Id of the token that minted this token. Absent when the command line minted it.',
    ),
    replacedBy: member(
      v.optional(v.string()),
      'Id of the token that replaces this token after a rotation. Absent when it was not rotated.',
    ),
  }),
  'An access token, without its secret.',
  token,
)

export const MintedToken = documented(
  v.object({
    ...Token.entries,
    token: member(v.string(), 'The token, to send as `Authorization: Bearer <token>`.'),
    warnings: member(
      v.optional(v.array(v.string())),
      'One sentence for each scope that names an agent or workflow that is not registered. Absent when there is none.',
    ),
  }),
  'A new access token. Only this response contains the token itself.',
  { ...token, token: 'perdure_live_v1_…x9Qz' },
)

export const RevokedToken = documented(
  v.object({
    id: member(v.string(), 'Id of the token.'),
    webhooks: member(
      v.array(v.string()),
      'Ids of the webhooks that are disabled, because they use the rights of the token or of one minted with it.',
    ),
  }),
  'What ends with a revoked token.',
  { id: token.id, webhooks: ['billing'] },
)

export const RevokeSubjectRequest = documented(
  strictObject({
    issuedUntil: member(
      v.optional(Timestamp),
      'Credentials that were issued at this time or earlier are revoked. Not in the future. Default: now.',
    ),
  }),
  'Revokes what a user has signed in with.',
  { issuedUntil: '2026-03-02T09:00:00.000Z' },
)

export const RevokedSubject = documented(
  v.object({
    subject: member(v.string(), 'The subject, as in the path.'),
    issuedUntil: member(Timestamp, 'Credentials that were issued at this time or earlier are refused.'),
  }),
  'A subject whose JWTs and tokens were revoked.',
  { subject: 'jwt:app:alice', issuedUntil: '2026-03-02T09:00:00.000Z' },
)

export const MintTokenRequest = documented(
  strictObject({
    name: member(Label, 'Name of the token, 1 to 128 characters.'),
    scopes: member(
      v.pipe(v.array(Grant), v.minLength(1), v.maxLength(64)),
      '1 to 64 scopes, each within the scopes of the caller.',
    ),
    subject: member(
      v.optional(Label),
      'Owner of what the token creates, 1 to 128 characters. Default: the id of the new token. With only `tokens:mint:sessions`: the name of a user, before which the server sets `host:`.',
    ),
    env: member(v.optional(TokenEnvName), 'Environment in the prefix of the token. Default: `live`.'),
    expiresAt: member(
      v.optional(Timestamp),
      'When the token expires, at most the expiry of the caller. Default: the expiry of the caller.',
    ),
  }),
  'Mints a token within the scopes and the lifetime of the caller.',
  { name: 'ci', scopes: ['agents:invoke:support'], expiresAt: '2026-06-01T00:00:00.000Z' },
)

export const RotateTokenRequest = documented(
  strictObject({
    graceSeconds: member(
      v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(86_400))),
      'Seconds for which the old token stays valid, from 0 to 86,400. Default: 0.',
    ),
    expiresAt: member(v.optional(Timestamp), 'When the new token expires. Default: the expiry of the old token.'),
  }),
  'Replaces a token with a new one that has the same subject and scopes.',
  { graceSeconds: 60 },
)

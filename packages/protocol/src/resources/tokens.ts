import * as v from 'valibot'
import { Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'
import { isGrantable } from '../scopes.ts'
import { TOKEN_ENVS } from '../token-format.ts'

export const TokenEnvName = v.picklist(TOKEN_ENVS)
const Label = v.pipe(v.string(), v.minLength(1), v.maxLength(128))
const Grant = v.pipe(v.string(), v.check(isGrantable, 'is not a scope that can be granted'))

export const Token = v.object({
  id: v.string(),
  name: v.string(),
  subject: v.string(),
  env: TokenEnvName,
  scopes: v.array(v.string()),
  createdAt: Timestamp,
  createdBy: v.string(),
  expiresAt: v.optional(Timestamp),
  lastUsedAt: v.optional(Timestamp),
  revokedAt: v.optional(Timestamp),
  last4: v.string(),
  parentId: v.optional(v.string()),
  replacedBy: v.optional(v.string()),
})

/** The only response that contains the token itself. */
export const MintedToken = v.object({
  ...Token.entries,
  token: v.string(),
  /** One sentence for each scope that names an agent or workflow that is not registered. */
  warnings: v.optional(v.array(v.string())),
})

/** What else ends with a revoked token. */
export const RevokedToken = v.object({
  id: v.string(),
  /** Ids of the webhooks that are disabled because they had the rights of the token or of one minted with it. */
  webhooks: v.array(v.string()),
})

export const MintTokenRequest = strictObject({
  name: Label,
  scopes: v.pipe(v.array(Grant), v.minLength(1), v.maxLength(64)),
  subject: v.optional(Label),
  env: v.optional(TokenEnvName),
  expiresAt: v.optional(Timestamp),
})

export const RotateTokenRequest = strictObject({
  graceSeconds: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(86_400))),
  expiresAt: v.optional(Timestamp),
})

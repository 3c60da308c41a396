import type { EpochMs, TokenRecord } from '@perdure/ports'

export type TokenResource = ReturnType<typeof renderToken>

/** A token as the API returns it: without its digest. */
export const renderToken = (token: TokenRecord) => ({
  id: token.id,
  name: token.name,
  subject: token.subject,
  env: token.env,
  scopes: token.scopes,
  createdAt: new Date(token.createdAt).toISOString(),
  createdBy: token.createdBy,
  expiresAt: isoOf(token.expiresAt),
  lastUsedAt: isoOf(token.lastUsedAt),
  revokedAt: isoOf(token.revokedAt),
  last4: token.last4,
  parentId: token.parentId,
  replacedBy: token.replacedBy,
})

const isoOf = (at: EpochMs | undefined) => (at === undefined ? undefined : new Date(at).toISOString())

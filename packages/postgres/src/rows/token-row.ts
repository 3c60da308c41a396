import type { EpochMs, TokenRecord } from '@perdure/ports'
import type { Selectable } from 'kysely'
import type { TokenTable } from '../query/schema.ts'

export type TokenRow = Selectable<TokenTable>

export type NewTokenRow = TokenTable

export const TOKEN_COLUMNS = [
  'id',
  'digest',
  'name',
  'subject',
  'env',
  'scopes',
  'created_at',
  'created_by',
  'expires_at',
  'last_used_at',
  'revoked_at',
  'last4',
  'parent_id',
  'replaced_by',
] as const

export const toTokenRow = (token: TokenRecord): NewTokenRow => ({
  id: token.id,
  digest: token.digest,
  name: token.name,
  subject: token.subject,
  env: token.env,
  scopes: JSON.stringify(token.scopes),
  created_at: token.createdAt,
  created_by: token.createdBy,
  expires_at: token.expiresAt ?? null,
  last_used_at: token.lastUsedAt ?? null,
  revoked_at: token.revokedAt ?? null,
  last4: token.last4,
  parent_id: token.parentId ?? null,
  replaced_by: token.replacedBy ?? null,
})

export const toToken = (row: TokenRow): TokenRecord => ({
  id: row.id,
  digest: row.digest,
  name: row.name,
  subject: row.subject,
  env: row.env,
  scopes: JSON.parse(row.scopes),
  createdAt: row.created_at as EpochMs,
  createdBy: row.created_by,
  expiresAt: (row.expires_at ?? undefined) as EpochMs | undefined,
  lastUsedAt: (row.last_used_at ?? undefined) as EpochMs | undefined,
  revokedAt: (row.revoked_at ?? undefined) as EpochMs | undefined,
  last4: row.last4,
  parentId: row.parent_id ?? undefined,
  replacedBy: row.replaced_by ?? undefined,
})

import type { EpochMs, JsonText, TokenRecord } from '@perdure/ports'
import type { TokenEnv } from '@perdure/protocol'

export interface TokenRow {
  readonly id: string
  readonly digest: string
  readonly name: string
  readonly subject: string
  readonly env: TokenEnv
  readonly scopes: string
  readonly created_at: number
  readonly created_by: string
  readonly expires_at: number | null
  readonly last_used_at: number | null
  readonly revoked_at: number | null
  readonly last4: string
  readonly parent_id: string | null
  readonly replaced_by: string | null
  readonly caller: string | null
}

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
  'caller',
] as const

export const toTokenRow = (token: TokenRecord): TokenRow => ({
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
  caller: token.caller ?? null,
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
  caller: (row.caller ?? undefined) as JsonText | undefined,
})

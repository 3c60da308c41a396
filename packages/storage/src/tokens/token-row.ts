import type { TokenRecord } from '@perdure/ports'
import { JSON_TEXT, type RowIn, recordTable } from '../query/record-table.ts'

export type TokenRow = RowIn<typeof TOKENS>

export const TOKENS = recordTable<TokenRecord>()({
  id: 'text',
  digest: 'text',
  name: 'text',
  subject: 'text',
  env: 'text',
  scopes: JSON_TEXT,
  createdAt: 'bigint',
  createdBy: 'text',
  expiresAt: 'bigint',
  lastUsedAt: 'bigint',
  revokedAt: 'bigint',
  last4: 'text',
  parentId: 'text',
  replacedBy: 'text',
  caller: 'text',
})

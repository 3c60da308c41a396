import type { SubjectRevocation } from '@perdure/ports'
import { type RowIn, recordTable } from '../query/record-table.ts'

export type SubjectRevocationRow = RowIn<typeof REVOCATIONS>

export const REVOCATIONS = recordTable<SubjectRevocation>()({
  subject: 'text',
  issuedUntil: 'bigint',
  revokedAt: 'bigint',
  revokedBy: 'text',
})

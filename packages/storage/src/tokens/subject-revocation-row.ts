import type { EpochMs, SubjectRevocation } from '@perdure/ports'

export interface SubjectRevocationRow {
  readonly subject: string
  readonly issued_until: number
  readonly revoked_at: number
  readonly revoked_by: string
}

export const REVOCATION_COLUMNS = ['subject', 'issued_until', 'revoked_at', 'revoked_by'] as const

export const toRevocationRow = ({
  subject,
  issuedUntil,
  revokedAt,
  revokedBy,
}: SubjectRevocation): SubjectRevocationRow => ({
  ...{ subject, issued_until: issuedUntil, revoked_at: revokedAt, revoked_by: revokedBy },
})

export const toRevocation = (row: SubjectRevocationRow): SubjectRevocation => ({
  subject: row.subject,
  issuedUntil: row.issued_until as EpochMs,
  revokedAt: row.revoked_at as EpochMs,
  revokedBy: row.revoked_by,
})

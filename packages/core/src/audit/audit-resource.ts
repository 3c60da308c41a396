import type { AuditEntry } from '@perdure/ports'

/** An entry as the API returns it. */
export type AuditResource = Omit<AuditEntry, 'at' | 'entry'> & { readonly at: string }

export const toAuditResource = ({ entry, hash, prevHash }: AuditEntry): AuditResource => ({
  ...JSON.parse(entry),
  prevHash,
  hash,
})

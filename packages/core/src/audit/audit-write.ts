import type { NewAuditEntry, Write } from '@berth/ports'

/** The link of the audit chain for something a principal was allowed to do; commit it with the deed. */
export const auditWrite = (
  { subject, tokenId }: { readonly subject: string; readonly tokenId?: string | undefined },
  deed: Pick<NewAuditEntry, 'at' | 'action' | 'target' | 'detail'>,
): Write => ({
  type: 'audit.append',
  entry: {
    ...deed,
    actor: { kind: tokenId === undefined ? 'anonymous' : 'token', id: tokenId, subject },
    decision: 'allowed',
  },
})

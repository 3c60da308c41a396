import type { NewAuditEntry, RequestOrigin, Write } from '@perdure/ports'

/** Who does something, and in which request. */
export interface Doer {
  readonly subject: string
  readonly tokenId?: string | undefined
  readonly origin?: RequestOrigin | undefined
}

/** The link of the audit chain for something a principal was allowed to do; commit it with the deed. */
export const auditWrite = (
  { subject, tokenId, origin }: Doer,
  deed: Pick<NewAuditEntry, 'at' | 'action' | 'target' | 'detail'>,
): Extract<Write, { readonly type: 'audit.append' }> => ({
  type: 'audit.append',
  entry: { ...deed, ...origin, actor: actorOf({ subject, tokenId }), decision: 'allowed' },
  origin,
})

export const actorOf = ({ subject, tokenId }: Omit<Doer, 'origin'>): NewAuditEntry['actor'] => ({
  kind: tokenId === undefined ? 'anonymous' : 'token',
  id: tokenId,
  subject,
})

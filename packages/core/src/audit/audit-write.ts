import type { NewAuditEntry, RequestOrigin, Write } from '@perdure/ports'

/** The caller of a privileged action, and the request in which the caller performs the action. */
export interface AuditActor {
  readonly subject: string
  readonly tokenId?: string | undefined
  readonly origin?: RequestOrigin | undefined
}

/** The audit entry for an allowed action; commit it together with the action. */
export const auditWrite = (
  { subject, tokenId, origin }: AuditActor,
  action: Pick<NewAuditEntry, 'at' | 'action' | 'target' | 'detail'>,
): Extract<Write, { readonly type: 'audit.append' }> => ({
  type: 'audit.append',
  entry: { ...action, ...origin, actor: actorOf({ subject, tokenId }), decision: 'allowed' },
  origin,
})

export const actorOf = ({ subject, tokenId }: Omit<AuditActor, 'origin'>): NewAuditEntry['actor'] => ({
  kind: tokenId === undefined ? 'anonymous' : 'token',
  id: tokenId,
  subject,
})

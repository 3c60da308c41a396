import { type ApprovalRecord, EVERY_ROW, perdureError } from '@perdure/ports'
import { ADMIN_SCOPE } from '@perdure/protocol'
import type { AuditActor } from '../audit/audit-write.ts'
import { holdsScope } from '../auth/authorize.ts'
import { decidableBy } from './may-decide.ts'

/** The caller who decides, with its rights. */
export interface Decider extends AuditActor {
  readonly scopes: readonly string[]
}

/**
 * An assignee only narrows who may decide: the scope of the operation was checked before.
 *
 * @throws PerdureError `approval-not-assigned`, saying who may decide, for an approval that is assigned to somebody else
 */
export function requireAssignee(approval: ApprovalRecord, decider: Decider): void {
  const { id, assignee } = approval
  if (assignee === undefined || decider.scopes.includes(ADMIN_SCOPE) || isAssigned(approval, assignee, decider)) return
  throw perdureError('approval-not-assigned', {
    message: `the approval ${id} is assigned to ${assignee}, not to ${decider.subject}`,
    hint: `only ${DECIDERS[assignee] ?? `a token with the scope ${assignee}`} or ${ADMIN_SCOPE} may decide it`,
  })
}

const DECIDERS: Readonly<Record<string, string>> = {
  user: 'the owner of the run',
  staff: 'a token with approvals:resolve that is not limited to own rows',
}

function isAssigned({ id, owner }: ApprovalRecord, assignee: string, decider: Decider): boolean {
  if (assignee === 'user') return decider.subject === owner
  if (assignee !== 'staff') return holdsScope(decider, assignee)
  const rows = decidableBy(decider)
  return rows === EVERY_ROW || rows?.ids?.includes(id) === true
}

import { type ApprovalStore, EVERY_ROW, type Visibility } from '@perdure/ports'
import { OPERATION_TABLES } from '@perdure/protocol'
import { authorize } from '../auth/authorize.ts'
import type { Principal } from '../auth/principal.ts'
import { isRefusalWith } from '../runs/thrown-value.ts'

const RESOLVE = OPERATION_TABLES.approvals.resolveApproval.scope

/** Whether a principal may decide an approval in the inbox. An approval without a known id needs the right to all. */
export async function mayDecide(
  approvals: Pick<ApprovalStore, 'find'>,
  principal: Principal,
  approvalId: string | undefined,
): Promise<boolean> {
  const visibility = decidableBy(principal)
  if (visibility === undefined || visibility === EVERY_ROW) return visibility !== undefined
  return approvalId !== undefined && (await approvals.find(approvalId, visibility)) !== undefined
}

/** The approvals that the principal may decide in the inbox; `undefined` if there are none. */
export function decidableBy(principal: Pick<Principal, 'subject' | 'scopes'>): Visibility | undefined {
  try {
    return authorize(principal, RESOLVE, {})
  } catch (error) {
    if (isRefusalWith(error, 'scope-denied')) return undefined
    throw error
  }
}

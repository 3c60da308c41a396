import {
  type ApprovalRecord,
  type ApprovalResolution,
  type CheckJson,
  canonicalJson,
  type EpochMs,
  fromJsonText,
  perdureError,
  toJsonText,
  type Write,
} from '@perdure/ports'
import { isOpenApproval } from '@perdure/protocol'
import { type AuditActor, auditWrite } from '../audit/audit-write.ts'
import type { Via } from '../runs/run-events.ts'
import { type Decider, requireAssignee } from './assignee.ts'
import { checkedEdit } from './edit.ts'

/** A decision on an approval, as submitted. */
export interface SubmittedDecision {
  readonly approved: boolean
  readonly reason?: string | undefined
  readonly payload?: unknown // JSON
  /** Arguments to execute the call with, in place of those that the run has asked for; JSON. */
  readonly args?: unknown
}

interface Deciding {
  readonly decider: Decider
  readonly at: EpochMs
  readonly checkJson: CheckJson | undefined
}

/**
 * What a decision makes of an approval; `undefined` for an approval already resolved by the same decision. Every decision
 * of a caller, through any protocol, is checked here.
 *
 * @throws PerdureError `approval-resolved`, naming who resolved it, if it was resolved by another decision;
 *   `approval-not-assigned`; `approval-not-editable`; `validation-failed` for arguments that do not match
 */
export async function resolutionOf(
  approval: ApprovalRecord,
  decision: SubmittedDecision,
  { decider, at, checkJson }: Deciding,
): Promise<ApprovalResolution | undefined> {
  if (!isUndecided(approval, decision)) return undefined
  requireAssignee(approval, decider)
  const { approved, reason, payload } = decision
  return {
    status: approved ? 'approved' : 'denied',
    by: decider.subject,
    reason,
    decision: payload === undefined ? undefined : toJsonText(payload),
    editedArgs: await checkedEdit(approval, decision, checkJson),
    resolvedAt: at,
  }
}

/** Whether the approval is open; false if it was resolved with the same verdict, reason and payload. */
function isUndecided(approval: ApprovalRecord, decision: SubmittedDecision): boolean {
  if (isOpenApproval(approval.status)) return true
  if (isSame(approval, decision)) return false
  const by = approval.by === undefined ? '' : ` by ${approval.by}`
  throw perdureError('approval-resolved', {
    message: `the approval ${approval.id} was already ${approval.status}${by}`,
    hint: 'read the approval to see the decision; to repeat it, send the same verdict, reason and payload',
  })
}

const isSame = (
  { status, reason, decision, args, editedArgs }: ApprovalRecord,
  { approved, payload, reason: given, args: edited }: SubmittedDecision,
) =>
  status === (approved ? 'approved' : 'denied') &&
  reason === given &&
  canonical(decision) === canonicalOf(payload) &&
  canonical(editedArgs ?? args) === (canonicalOf(edited) ?? canonical(args))

const canonical = (text: ApprovalRecord['decision']) =>
  text === undefined ? undefined : canonicalJson(fromJsonText(text))
const canonicalOf = (payload: unknown) =>
  payload === undefined ? undefined : canonicalJson(fromJsonText(toJsonText(payload)))

interface AuditedDecision {
  readonly approval: Pick<ApprovalRecord, 'id'>
  readonly resolution: ApprovalResolution
}

/** The audit entry of a decision. `via`: the protocol that brought it, if it is not the API's own. */
export const decisionAudit = (
  { approval: { id }, resolution: { status, resolvedAt } }: AuditedDecision,
  decider: AuditActor,
  via: Via | undefined,
): Write =>
  auditWrite(decider, {
    at: resolvedAt,
    action: 'approvals.resolve',
    target: id,
    detail: { approved: status === 'approved', ...(via === undefined ? {} : { via: via.protocol }) },
  })

import {
  type ApprovalRecord,
  type ApprovalResolution,
  canonicalJson,
  type EpochMs,
  fromJsonText,
  perdureError,
  toJsonText,
  type Write,
} from '@perdure/ports'
import { type AuditActor, auditWrite } from '../audit/audit-write.ts'
import type { Via } from '../runs/run-events.ts'

/** A decision on an approval, as submitted. */
export interface SubmittedDecision {
  readonly approved: boolean
  readonly reason?: string | undefined
  readonly payload?: unknown // JSON
}

export const resolutionOf = (
  { approved, reason, payload }: SubmittedDecision,
  { subject }: Pick<AuditActor, 'subject'>,
  resolvedAt: EpochMs,
): ApprovalResolution => ({
  status: approved ? 'approved' : 'denied',
  by: subject,
  reason,
  decision: payload === undefined ? undefined : toJsonText(payload),
  resolvedAt,
})

/**
 * Whether the approval is still open. Returns false for an approval already resolved by the same decision, that is with
 * the same verdict, reason and payload.
 *
 * @throws PerdureError `approval-resolved`, naming who resolved it, if the decisions differ
 */
export function isUndecided(approval: ApprovalRecord, decision: SubmittedDecision): boolean {
  if (approval.status === 'pending') return true
  if (isSame(approval, decision)) return false
  const by = approval.by === undefined ? '' : ` by ${approval.by}`
  throw perdureError('approval-resolved', {
    message: `the approval ${approval.id} was already ${approval.status}${by}`,
    hint: 'read the approval to see the decision; to repeat it, send the same verdict, reason and payload',
  })
}

const isSame = (
  { status, reason, decision }: ApprovalRecord,
  { approved, payload, reason: given }: SubmittedDecision,
) => status === (approved ? 'approved' : 'denied') && reason === given && canonical(decision) === canonicalOf(payload)

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

import {
  AppError,
  type ApprovalRecord,
  type ApprovalResolution,
  canonicalJson,
  type EpochMs,
  fromJsonText,
  toJsonText,
  type Write,
} from '@perdure/ports'
import { auditWrite, type Doer } from '../audit/audit-write.ts'

/** What somebody says of an approval. */
export interface Decision {
  readonly granted: boolean
  readonly reason?: string | undefined
  readonly payload?: unknown // JSON
}

export const resolutionOf = (
  { granted, reason, payload }: Decision,
  { subject }: Pick<Doer, 'subject'>,
  resolvedAt: EpochMs,
): ApprovalResolution => ({
  status: granted ? 'granted' : 'denied',
  by: subject,
  reason,
  decision: payload === undefined ? undefined : toJsonText(payload),
  resolvedAt,
})

/**
 * Whether the approval is still open. It is decided once: the same decision again, in verdict, reason and payload, is no
 * other.
 *
 * @throws AppError `approval-resolved`, naming the winner, when it came out differently
 */
export function isOpenTo(approval: ApprovalRecord, decision: Decision): boolean {
  if (approval.status === 'pending') return true
  if (isSame(approval, decision)) return false
  const by = approval.by === undefined ? '' : ` by ${approval.by}`
  throw new AppError('approval-resolved', {
    message: `the approval ${approval.id} was already ${approval.status}${by}`,
    hint: 'read it to see the decision; only the same decision, reason and payload is answered again',
  })
}

const isSame = ({ status, reason, decision }: ApprovalRecord, { granted, payload, reason: given }: Decision) =>
  status === (granted ? 'granted' : 'denied') && reason === given && canonical(decision) === canonicalOf(payload)

const canonical = (text: ApprovalRecord['decision']) =>
  text === undefined ? undefined : canonicalJson(fromJsonText(text))
const canonicalOf = (payload: unknown) =>
  payload === undefined ? undefined : canonicalJson(fromJsonText(toJsonText(payload)))

/** The link of a decision in the audit chain. */
export const decisionAudit = (id: string, decider: Doer, { status, resolvedAt }: ApprovalResolution): Write =>
  auditWrite(decider, {
    at: resolvedAt,
    action: 'approvals.resolve',
    target: id,
    detail: { granted: status === 'granted' },
  })

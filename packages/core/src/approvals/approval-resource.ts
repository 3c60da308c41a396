import { type ApprovalRecord, type EpochMs, fromJsonText, type JsonText } from '@perdure/ports'
import { isOpenApproval } from '@perdure/protocol'
import { argsIn } from '../durable/approvals/approval-request.ts'

/** Converts an approval to its API representation. */
export function toApprovalResource(approval: ApprovalRecord) {
  const { toolCallId } = approval
  const shown = parsed(approval.payload)
  const {
    kind,
    targetId,
    seq: _,
    owner: _owner,
    payload: _payload,
    decision: _decision,
    argsSchema,
    args,
    editedArgs,
    remindAt,
    createdAt,
    expiresAt,
    resolvedAt,
    ...rest
  } = approval
  return {
    ...rest,
    ...(kind === 'agent' ? { agentId: targetId } : { workflowId: targetId }),
    payload: shown,
    args: args === undefined && toolCallId !== undefined ? argsIn(shown) : parsed(args),
    argsSchema: parsed(argsSchema),
    editedArgs: parsed(editedArgs),
    createdAt: toIso(createdAt),
    expiresAt: expiresAt && toIso(expiresAt),
    remindAt: isOpenApproval(rest.status) && remindAt !== undefined ? toIso(remindAt) : undefined,
    resolvedAt: resolvedAt && toIso(resolvedAt),
  }
}

export type ApprovalResource = ReturnType<typeof toApprovalResource>

const parsed = (text: JsonText | undefined) => (text === undefined ? undefined : fromJsonText(text))
const toIso = (at: EpochMs) => new Date(at).toISOString()

import type { ApprovalRecord, EpochMs, NewEvent } from '@perdure/ports'
import { formatSubject } from '@perdure/protocol'
import { jsonObject } from '../json/json-members.ts'

export type ApprovalEventType = 'approval.requested' | 'approval.resolved' | 'approval.expired'

/**
 * The event of an approval, sent to its run, its session and the inbox. Names the tool when a tool call requires the
 * approval.
 */
export function approvalEvents(approval: ApprovalRecord, type: ApprovalEventType, at: EpochMs): readonly NewEvent[] {
  const { id, runId, sessionId, name, title, payload, status, by, reason, toolCallId } = approval
  const decision = status === 'granted' || status === 'denied' ? status : undefined
  const event: NewEvent = {
    runId,
    sessionId,
    topic: formatSubject('approvals', {}),
    type,
    payload: jsonObject({ approvalId: id, runId, name, title, decision, by, reason, toolCallId }, { payload }),
    at,
  }
  const isFromTool = type === 'approval.requested' && toolCallId !== undefined
  return isFromTool ? [event, { ...event, topic: undefined, type: 'tool.approval.requested' }] : [event]
}

import type { ApprovalRecord, EpochMs, JsonText, NewEvent } from '@perdure/ports'
import { type EventType, formatSubject, isDecision } from '@perdure/protocol'
import { jsonObject } from '../../json/json-members.ts'
import type { Via } from '../../runs/run-events.ts'

export type ApprovalEventType = Extract<EventType, `approval.${string}`>

export interface ApprovalEventDetail {
  readonly at: EpochMs
  /** The arguments of the tool call that requires the approval. */
  readonly args?: JsonText | undefined
  /** The approval that is asked again. */
  readonly replaces?: string | undefined
  /** The protocol through which the decision came. */
  readonly via?: Via | undefined
  /** The runs that wait for the run of the approval. Their logs get a copy of the events. */
  readonly ancestors: readonly string[]
}

/**
 * The event of an approval, sent to its run, its session, the inbox, and the ancestors of its run. Names the tool when a
 * tool call requires the approval.
 */
export function approvalEvents(
  approval: ApprovalRecord,
  type: ApprovalEventType,
  { at, args, via, replaces, ancestors }: ApprovalEventDetail,
): readonly NewEvent[] {
  const { id, runId, sessionId, payload, status, toolCallId, decision: answer, argsSchema, editedArgs } = approval
  const { name, title, assignee, by, reason } = approval
  const decision = isDecision(status) ? status : undefined
  const editable = argsSchema === undefined || type !== 'approval.requested' ? undefined : true
  const fields = {
    approvalId: id,
    runId,
    name,
    title,
    assignee,
    editable,
    decision,
    by,
    reason,
    toolCallId,
    via,
    replaces,
  }
  const event: NewEvent = {
    runId,
    sessionId,
    topic: formatSubject('approvals', {}),
    type,
    payload: jsonObject(fields, { payload, answer, editedArgs }),
    at,
  }
  const isFromTool = type === 'approval.requested' && toolCallId !== undefined
  const tool: readonly NewEvent[] = isFromTool
    ? [
        {
          ...event,
          topic: undefined,
          type: 'tool.approval.requested',
          payload: jsonObject({ ...fields, toolName: name }, { payload, args }),
        },
      ]
    : []
  const own = [event, ...tool]
  return [...own, ...copiesFor(own, ancestors)]
}

/** The session and the inbox carry the original already. */
const copiesFor = (events: readonly NewEvent[], ancestors: readonly string[]): readonly NewEvent[] =>
  ancestors.flatMap((runId) => events.map((event) => ({ ...event, runId, sessionId: undefined, topic: undefined })))

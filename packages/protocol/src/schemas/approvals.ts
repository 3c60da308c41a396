import { Approval, ApprovalStatus, ResolveApprovalRequest } from '../resources/approvals.ts'
import { type NamedSchemas, namedObject, namedValue } from './named-schema.ts'
import { RUN_ID } from './runs.ts'

export const APPROVAL_ID = 'apr_01k5x3v8qk7m2n9b4c6d8f0g1h'

export const approvalSchemas = {
  ApprovalStatus: namedValue(ApprovalStatus, {
    description: 'Status of an approval. Only `pending` can change.',
    example: 'pending',
  }),
  Approval: namedObject(Approval, {
    description: 'A decision that a run requests from a person.',
    members: {
      id: 'Id of the approval, `apr_…`.',
      runId: 'Id of the run that waits for the decision.',
      agentId: 'Id of the agent. Present only for runs of an agent.',
      workflowId: 'Id of the workflow. Present only for runs of a workflow.',
      sessionId: 'Id of the session of the run. Absent when the run has no session.',
      name: 'Name of the approval in the code of the run.',
      title: 'Question to show to the person who decides. Absent when the code gave none.',
      payload: 'Details to base the decision on. Absent when the code gave none.',
      toolCallId: 'Id of the tool call that needs the approval. Absent when no tool call does.',
      status: 'Whether the approval is pending, and if not, how it ended.',
      createdAt: 'When the run requested the approval.',
      expiresAt: 'When the approval expires without a decision. Absent when it never expires.',
      resolvedAt: 'When the request was approved or denied, or expired. Absent while it is pending.',
      by: 'Subject of the token that decided. Absent without a decision.',
      reason: 'Reason for the decision. Absent when none was given.',
    },
    example: {
      id: APPROVAL_ID,
      runId: RUN_ID,
      agentId: 'support',
      name: 'refund',
      title: 'Refund 40 EUR to mia?',
      payload: { order: 7, amount: 40 },
      status: 'pending',
      createdAt: '2026-03-02T09:15:01.400Z',
      expiresAt: '2026-03-09T09:15:01.400Z',
    },
  }),
  ResolveApprovalRequest: namedObject(ResolveApprovalRequest, {
    description: 'Approves or denies a request for approval.',
    members: {
      approved: 'Whether to approve the request.',
      reason: 'Reason for the decision, at most 512 characters.',
      payload: 'Value to pass to the waiting code together with the decision.',
    },
    example: { approved: true, reason: 'the parcel is lost' },
  }),
} as const satisfies NamedSchemas

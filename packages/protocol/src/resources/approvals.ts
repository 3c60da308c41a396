import * as v from 'valibot'
import { APPROVAL_STATUS_NAMES } from '../approval-statuses.ts'
import { documented, member } from '../documented.ts'
import { Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'
import { APPROVAL_ID, RUN_ID } from './example-ids.ts'

export const ApprovalStatus = documented(
  v.picklist(APPROVAL_STATUS_NAMES),
  'Status of an approval. Only `pending` can change.',
  'pending',
)

export const Approval = documented(
  v.object({
    id: member(v.string(), 'Id of the approval, `apr_…`.'),
    runId: member(v.string(), 'Id of the run that waits for the decision.'),
    agentId: member(v.optional(v.string()), 'Id of the agent. Present only for runs of an agent.'),
    workflowId: member(v.optional(v.string()), 'Id of the workflow. Present only for runs of a workflow.'),
    sessionId: member(v.optional(v.string()), 'Id of the session of the run. Absent when the run has no session.'),
    name: member(v.string(), 'Name of the approval in the code of the run.'),
    title: member(
      v.optional(v.string()),
      'Question to show to the person who decides. Absent when the code gave none.',
    ),
    payload: member(v.optional(v.unknown()), 'Details to base the decision on. Absent when the code gave none.'),
    toolCallId: member(
      v.optional(v.string()),
      'Id of the tool call that needs the approval. Absent when no tool call does.',
    ),
    assignee: member(
      v.optional(v.string()),
      'Callers that may decide: `user`, the owner of the run; `staff`, a token whose `approvals:resolve` is not limited to own rows; or a scope that the token must hold. Absent when every token that may resolve approvals may.',
    ),
    remindAt: member(
      v.optional(Timestamp),
      'When the event `approval.reminder` is due. Absent once it was sent, and without a reminder.',
    ),
    escalateTo: member(v.optional(v.string()), 'The assignee from the reminder on. Absent when it stays the same.'),
    args: member(
      v.optional(v.unknown()),
      'Arguments of the tool call, or those that the decision may change. Absent for other requests.',
    ),
    argsSchema: member(
      v.optional(v.union([v.boolean(), v.record(v.string(), v.unknown())])),
      'JSON Schema of the arguments that the decision may send; `true` allows any. Absent when it may send none.',
    ),
    editedArgs: member(
      v.optional(v.unknown()),
      'Arguments that the decision has sent. Absent when it left those of the request.',
    ),
    status: member(ApprovalStatus, 'Whether the approval is pending, and if not, how it ended.'),
    createdAt: member(Timestamp, 'When the run requested the approval.'),
    expiresAt: member(
      v.optional(Timestamp),
      'When the approval expires without a decision. Absent when it never expires.',
    ),
    resolvedAt: member(
      v.optional(Timestamp),
      'When the request was approved or denied, or expired. Absent while it is pending.',
    ),
    by: member(v.optional(v.string()), 'Subject of the token that decided. Absent without a decision.'),
    reason: member(v.optional(v.string()), 'Reason for the decision. Absent when none was given.'),
  }),
  'A decision that a run requests from a person.',
  {
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
)

export const ResolveApprovalRequest = documented(
  strictObject({
    approved: member(v.boolean(), 'Whether to approve the request.'),
    reason: member(
      v.optional(v.pipe(v.string(), v.maxLength(512))),
      'Reason for the decision, at most 512 characters.',
    ),
    payload: member(v.optional(v.unknown()), 'Value to pass to the waiting code together with the decision.'),
    args: member(
      v.optional(v.unknown()),
      'Arguments to execute with in place of `args` of the approval; must match its `argsSchema`.',
    ),
  }),
  'Approves or denies a request for approval.',
  { approved: true, reason: 'the parcel is lost' },
)

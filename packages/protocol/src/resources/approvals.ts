import * as v from 'valibot'
import { Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'

export const ApprovalStatus = v.picklist(['pending', 'approved', 'denied', 'expired'])

export const Approval = v.object({
  id: v.string(),
  runId: v.string(),
  agentId: v.optional(v.string()),
  workflowId: v.optional(v.string()),
  sessionId: v.optional(v.string()),
  name: v.string(),
  title: v.optional(v.string()),
  payload: v.optional(v.unknown()),
  toolCallId: v.optional(v.string()),
  status: ApprovalStatus,
  createdAt: Timestamp,
  expiresAt: v.optional(Timestamp),
  resolvedAt: v.optional(Timestamp),
  by: v.optional(v.string()),
  reason: v.optional(v.string()),
})

export const ResolveApprovalRequest = strictObject({
  approved: v.boolean(),
  reason: v.optional(v.pipe(v.string(), v.maxLength(512))),
  payload: v.optional(v.unknown()),
})

import * as v from 'valibot'
import { OperatorId } from '../ids.ts'
import type { OperationTable } from '../operation.ts'
import { Approval, ApprovalStatus, ResolveApprovalRequest } from '../resources/approvals.ts'
import { listOf, PageEntries } from '../resources/list.ts'

/** What an operation may need to answer an approval that it names. */
export const DECIDE = ['approvals:resolve:{approvalId}'] as const

/** Why a decision can be refused. */
export const DECISION_REFUSALS = [
  'approval-not-found',
  'approval-not-assigned',
  'approval-not-editable',
  'approval-resolved',
] as const

export const approvalOperations = {
  listApprovals: {
    id: 'approvals.list',
    method: 'GET',
    path: '/approvals',
    scope: { anyOf: ['approvals:read:{approvalId}'] },
    idempotent: false,
    query: v.strictObject({ ...PageEntries, status: v.optional(ApprovalStatus), runId: v.optional(OperatorId) }),
    responses: { 200: { schema: listOf(Approval), description: 'Approvals, newest first.' } },
    errors: [],
    summary: 'List approvals.',
  },
  getApproval: {
    id: 'approvals.get',
    method: 'GET',
    path: '/approvals/:approvalId',
    scope: { anyOf: ['approvals:read:{approvalId}'] },
    idempotent: false,
    responses: { 200: { schema: Approval, description: 'The approval.' } },
    errors: ['approval-not-found'],
    summary: 'Read an approval.',
  },
  resolveApproval: {
    id: 'approvals.resolve',
    method: 'POST',
    path: '/approvals/:approvalId/resolve',
    scope: { anyOf: DECIDE },
    idempotent: true,
    privileged: true,
    body: ResolveApprovalRequest,
    responses: {
      200: {
        schema: Approval,
        description: 'The resolved approval; repeating the same decision returns the same response.',
      },
    },
    errors: [...DECISION_REFUSALS, 'run-not-active', 'session-not-found', 'thread-not-found'],
    summary: 'Approve or deny a request for approval.',
  },
} as const satisfies OperationTable

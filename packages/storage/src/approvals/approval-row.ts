import type { ApprovalRecord } from '@perdure/ports'
import { type RowIn, recordTable } from '../query/record-table.ts'

export type ApprovalRow = RowIn<typeof APPROVALS>

export const APPROVALS = recordTable<ApprovalRecord>()({
  id: 'text',
  runId: 'text',
  seq: 'integer',
  kind: 'text',
  targetId: 'text',
  sessionId: 'text',
  owner: 'text',
  name: 'text',
  title: 'text',
  toolCallId: 'text',
  status: 'text',
  createdAt: 'bigint',
  expiresAt: 'bigint',
  resolvedAt: 'bigint',
  by: 'text',
  reason: 'text',
  payload: 'text',
  decision: 'text',
  assignee: 'text',
  argsSchema: 'text',
  args: 'text',
  editedArgs: 'text',
  remindAt: 'bigint',
  escalateTo: 'text',
})

import type { ApprovalRecord, EpochMs, JsonText } from '@perdure/ports'
import type { Selectable } from 'kysely'
import type { ApprovalTable } from '../query/schema.ts'

export type ApprovalRow = Selectable<ApprovalTable>

export type NewApprovalRow = Omit<ApprovalTable, 'key'>

export const APPROVAL_COLUMNS = [
  'id',
  'run_id',
  'seq',
  'kind',
  'target_id',
  'session_id',
  'owner',
  'name',
  'title',
  'tool_call_id',
  'status',
  'created_at',
  'expires_at',
  'resolved_at',
  'by',
  'reason',
  'payload',
  'decision',
] as const

export const toApprovalRow = (approval: ApprovalRecord): NewApprovalRow => ({
  id: approval.id,
  run_id: approval.runId,
  seq: approval.seq ?? null,
  kind: approval.kind,
  target_id: approval.targetId,
  session_id: approval.sessionId ?? null,
  owner: approval.owner,
  name: approval.name,
  title: approval.title ?? null,
  tool_call_id: approval.toolCallId ?? null,
  status: approval.status,
  created_at: approval.createdAt,
  expires_at: approval.expiresAt ?? null,
  resolved_at: approval.resolvedAt ?? null,
  by: approval.by ?? null,
  reason: approval.reason ?? null,
  payload: approval.payload ?? null,
  decision: approval.decision ?? null,
})

export const toApproval = (row: ApprovalRow): ApprovalRecord => ({
  id: row.id,
  runId: row.run_id,
  seq: row.seq ?? undefined,
  kind: row.kind,
  targetId: row.target_id,
  sessionId: row.session_id ?? undefined,
  owner: row.owner,
  name: row.name,
  title: row.title ?? undefined,
  payload: (row.payload ?? undefined) as JsonText | undefined,
  toolCallId: row.tool_call_id ?? undefined,
  status: row.status,
  createdAt: row.created_at as EpochMs,
  expiresAt: (row.expires_at ?? undefined) as EpochMs | undefined,
  resolvedAt: (row.resolved_at ?? undefined) as EpochMs | undefined,
  by: row.by ?? undefined,
  reason: row.reason ?? undefined,
  decision: (row.decision ?? undefined) as JsonText | undefined,
})

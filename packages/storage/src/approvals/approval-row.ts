import type { ApprovalRecord, ApprovalStatus, EpochMs, JsonText, RunKind } from '@perdure/ports'

export interface ApprovalRow {
  readonly id: string
  readonly run_id: string
  readonly seq: number | null
  readonly kind: RunKind
  readonly target_id: string
  readonly session_id: string | null
  readonly owner: string
  readonly name: string
  readonly title: string | null
  readonly tool_call_id: string | null
  readonly status: ApprovalStatus
  readonly created_at: number
  readonly expires_at: number | null
  readonly resolved_at: number | null
  readonly by: string | null
  readonly reason: string | null
  readonly payload: string | null
  readonly decision: string | null
  readonly assignee: string | null
  readonly args_schema: string | null
  readonly args: string | null
  readonly edited_args: string | null
  readonly remind_at: number | null
  readonly escalate_to: string | null
}

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
  'assignee',
  'args_schema',
  'args',
  'edited_args',
  'remind_at',
  'escalate_to',
] as const

export const toApprovalRow = (approval: ApprovalRecord): ApprovalRow => ({
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
  ...toAssignmentColumns(approval),
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
  ...toAssignment(row),
})

type Assignment = Pick<ApprovalRecord, 'assignee' | 'argsSchema' | 'args' | 'editedArgs' | 'remindAt' | 'escalateTo'>

const toAssignmentColumns = (approval: Assignment) => ({
  assignee: approval.assignee ?? null,
  args_schema: approval.argsSchema ?? null,
  args: approval.args ?? null,
  edited_args: approval.editedArgs ?? null,
  remind_at: approval.remindAt ?? null,
  escalate_to: approval.escalateTo ?? null,
})

const toAssignment = (row: ApprovalRow): Assignment => ({
  assignee: row.assignee ?? undefined,
  argsSchema: (row.args_schema ?? undefined) as JsonText | undefined,
  args: (row.args ?? undefined) as JsonText | undefined,
  editedArgs: (row.edited_args ?? undefined) as JsonText | undefined,
  remindAt: (row.remind_at ?? undefined) as EpochMs | undefined,
  escalateTo: row.escalate_to ?? undefined,
})

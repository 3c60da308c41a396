import type { ApprovalRecord, ApprovalResolution } from '@perdure/ports'
import { sql } from 'kysely'
import { findAnyApproval } from './approval-store.ts'
import { compile, from, placesFor } from './query.ts'
import type { ApprovalTable } from './schema.ts'
import type { WriteAppliers } from './write-applier.ts'

export const approvalWrites: WriteAppliers<'approval.insert' | 'approval.resolve'> = {
  'approval.insert'({ db }, { type, approval }) {
    const { changes } = db.run(insertApproval, toRow(approval))
    return changes === 1 ? 1 : { type, current: findAnyApproval(db, approval.id) }
  },
  'approval.resolve'({ db }, { type, id, resolution }) {
    const { changes } = db.run(resolveApproval, { id, ...toResolvedColumns(resolution) })
    return changes === 1 ? 1 : { type, current: findAnyApproval(db, id) }
  },
}

type NewApprovalRow = Omit<ApprovalTable, 'key'>

const COLUMNS = [
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

const RESOLVED = ['status', 'resolved_at', 'by', 'reason', 'decision'] as const

/** A `null` leaves the column as it is. */
type ResolvedColumns = Pick<NewApprovalRow, (typeof RESOLVED)[number]>

const insertApproval = compile<NewApprovalRow, unknown>((place) =>
  from
    .insertInto('approvals')
    .values(placesFor(place, COLUMNS))
    .onConflict((conflict) => conflict.column('id').doNothing()),
)

const resolveApproval = compile<ResolvedColumns & { id: string }, unknown>((place) =>
  from
    .updateTable('approvals')
    .set(Object.fromEntries(RESOLVED.map((column) => [column, sql`coalesce(${place(column)}, ${sql.ref(column)})`])))
    .where('id', '=', place('id'))
    .where('status', '=', 'pending'),
)

const toResolvedColumns = (resolution: ApprovalResolution): ResolvedColumns => ({
  status: resolution.status,
  resolved_at: resolution.resolvedAt,
  by: resolution.by ?? null,
  reason: resolution.reason ?? null,
  decision: resolution.decision ?? null,
})

const toRow = (approval: ApprovalRecord): NewApprovalRow => ({
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

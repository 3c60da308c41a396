import type { ApprovalResolution } from '@perdure/ports'
import { sql } from 'kysely'
import { compile, paramsFor } from '../query/compile.ts'
import { from } from '../query/from.ts'
import type { WriteAppliers } from '../transaction.ts'
import { APPROVAL_COLUMNS, type ApprovalRow, toApprovalRow } from './approval-row.ts'
import { findAnyApproval } from './approval-store.ts'

export const approvalWrites: WriteAppliers<
  'approval.insert' | 'approval.resolve' | 'approval.remind' | 'approval.fence'
> = {
  *'approval.insert'({ db }, { type, approval }) {
    const changes = yield* db.run(insertApproval, toApprovalRow(approval))
    return changes === 1 ? 1 : { type, current: yield* findAnyApproval(db, approval.id) }
  },
  *'approval.resolve'({ db }, { type, id, resolution }) {
    const changes = yield* db.run(resolveApproval, { id, ...toResolvedColumns(resolution) })
    return changes === 1 ? 1 : { type, current: yield* findAnyApproval(db, id) }
  },
  *'approval.remind'({ db }, { type, id, assignee }) {
    const changes = yield* db.run(remindApproval, { id, assignee: assignee ?? null })
    return changes === 1 ? 1 : { type, current: yield* findAnyApproval(db, id) }
  },
  *'approval.fence'({ db }, { type, ids }) {
    for (const id of ids) {
      const row = yield* db.get(SELECT_STATUS, { id })
      if (row?.status !== 'pending') return { type, current: yield* findAnyApproval(db, id) }
    }
    return 0
  },
}

const RESOLVED = ['status', 'resolved_at', 'by', 'reason', 'decision', 'edited_args'] as const

/** `null` leaves the column unchanged. */
type ResolvedColumns = Pick<ApprovalRow, (typeof RESOLVED)[number]>

const insertApproval = compile<ApprovalRow, unknown>((param) =>
  from
    .insertInto('approvals')
    .values(paramsFor(param, APPROVAL_COLUMNS))
    .onConflict((conflict) => conflict.column('id').doNothing()),
)

/** The status stays until the transaction ends. */
const SELECT_STATUS = compile<{ id: string }, Pick<ApprovalRow, 'status'>>((param, { locksRows }) =>
  from
    .selectFrom('approvals')
    .select('status')
    .where('id', '=', param('id'))
    .$if(locksRows, (query) => query.forShare()),
)

const resolveApproval = compile<ResolvedColumns & { id: string }, unknown>((param) =>
  from
    .updateTable('approvals')
    .set(Object.fromEntries(RESOLVED.map((column) => [column, sql`coalesce(${param(column)}, ${sql.ref(column)})`])))
    .where('id', '=', param('id'))
    .where('status', '=', 'pending'),
)

/** Without an assignee, the column stays unchanged. */
const remindApproval = compile<{ id: string; assignee: string | null }, unknown>((param) =>
  from
    .updateTable('approvals')
    .set({ remind_at: null, assignee: sql`coalesce(${param('assignee')}, assignee)` })
    .where('id', '=', param('id'))
    .where('status', '=', 'pending')
    .where('remind_at', 'is not', null),
)

const toResolvedColumns = (resolution: ApprovalResolution): ResolvedColumns => ({
  status: resolution.status,
  resolved_at: resolution.resolvedAt,
  by: resolution.by ?? null,
  reason: resolution.reason ?? null,
  decision: resolution.decision ?? null,
  edited_args: resolution.editedArgs ?? null,
})

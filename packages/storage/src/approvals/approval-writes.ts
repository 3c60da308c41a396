import { sql } from 'kysely'
import { compile } from '../query/compile.ts'
import { from } from '../query/from.ts'
import type { Changes, RowIn } from '../query/record-table.ts'
import { insertInto, setGiven } from '../query/table-queries.ts'
import type { WriteAppliers, WritesOf } from '../transaction.ts'
import { APPROVALS, type ApprovalRow } from './approval-row.ts'
import { findAnyApproval } from './approval-store.ts'

export const approvalWrites: WriteAppliers<WritesOf<'approval'>> = {
  *'approval.insert'({ db }, { type, approval }) {
    const changes = yield* db.run(insertApproval, APPROVALS.toRow(approval))
    return changes === 1 ? 1 : { type, current: yield* findAnyApproval(db, approval.id) }
  },
  *'approval.resolve'({ db }, { type, id, resolution }) {
    const changes = yield* db.run(resolveApproval, { id, ...RESOLVED.toChanges(resolution) })
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

/** `null` leaves the column unchanged. */
const RESOLVED = APPROVALS.only('status', 'resolvedAt', 'by', 'reason', 'decision', 'editedArgs')

const insertApproval = insertInto<ApprovalRow>('approvals', APPROVALS.columns, 'id')

/** The status stays until the transaction ends. */
const SELECT_STATUS = compile<{ id: string }, Pick<ApprovalRow, 'status'>>((param, { locksRows }) =>
  from
    .selectFrom('approvals')
    .select('status')
    .where('id', '=', param('id'))
    .$if(locksRows, (query) => query.forShare()),
)

const resolveApproval = compile<Changes<RowIn<typeof RESOLVED>> & { id: string }, unknown>((param) =>
  from
    .updateTable('approvals')
    .set(setGiven(param, RESOLVED.columns))
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

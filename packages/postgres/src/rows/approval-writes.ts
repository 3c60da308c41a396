import type { ApprovalResolution } from '@perdure/ports'
import { APPROVAL_COLUMNS, type ApprovalRow, paramsFor, toApprovalRow } from '@perdure/sql'
import { sql } from 'kysely'
import { compile, from } from '../query/compile.ts'
import { findAnyApproval } from './approval-store.ts'
import type { WriteAppliers } from './write-applier.ts'

export const approvalWrites: WriteAppliers<'approval.insert' | 'approval.resolve' | 'approval.fence'> = {
  async 'approval.insert'({ db }, { type, approval }) {
    const { changes } = await db.run(insertApproval, toApprovalRow(approval))
    return changes === 1 ? 1 : { type, current: await findAnyApproval(db, approval.id) }
  },
  async 'approval.resolve'({ db }, { type, id, resolution }) {
    const { changes } = await db.run(resolveApproval, { id, ...toResolvedColumns(resolution) })
    return changes === 1 ? 1 : { type, current: await findAnyApproval(db, id) }
  },
  async 'approval.fence'({ db }, { type, ids }) {
    for (const id of ids) {
      if ((await db.get(SELECT_STATUS, { id }))?.status !== 'pending')
        return { type, current: await findAnyApproval(db, id) }
    }
    return 0
  },
}

const RESOLVED = ['status', 'resolved_at', 'by', 'reason', 'decision'] as const

/** `null` leaves the column unchanged. */
type ResolvedColumns = Pick<ApprovalRow, (typeof RESOLVED)[number]>

const insertApproval = compile<ApprovalRow, unknown>((param) =>
  from
    .insertInto('approvals')
    .values(paramsFor(param, APPROVAL_COLUMNS))
    .onConflict((conflict) => conflict.column('id').doNothing()),
)

/** The status stays until the transaction ends. */
const SELECT_STATUS = compile<{ id: string }, Pick<ApprovalRow, 'status'>>((param) =>
  from.selectFrom('approvals').select('status').where('id', '=', param('id')).forShare(),
)

const resolveApproval = compile<ResolvedColumns & { id: string }, unknown>((param) =>
  from
    .updateTable('approvals')
    .set(Object.fromEntries(RESOLVED.map((column) => [column, sql`coalesce(${param(column)}, ${sql.ref(column)})`])))
    .where('id', '=', param('id'))
    .where('status', '=', 'pending'),
)

const toResolvedColumns = (resolution: ApprovalResolution): ResolvedColumns => ({
  status: resolution.status,
  resolved_at: resolution.resolvedAt,
  by: resolution.by ?? null,
  reason: resolution.reason ?? null,
  decision: resolution.decision ?? null,
})

import {
  type ApprovalFilter,
  type ApprovalRecord,
  type ApprovalStatus,
  type EpochMs,
  EVERY_ROW,
  type Page,
  type PageQuery,
  type Visibility,
} from '@perdure/ports'
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, type Query } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, toPage } from '../query/page.ts'
import {
  type AccessTests,
  type AccessValues,
  accessValues,
  isVisible,
  visibilityVariant,
} from '../query/row-visibility.ts'
import { type ApprovalRow, toApproval } from './approval-row.ts'

export interface ApprovalListRequest {
  readonly filter: ApprovalFilter
  readonly page: PageQuery
  readonly visibility: Visibility
}

export function* findApproval(db: Db, request: { id: string; visibility: Visibility }) {
  const { id, visibility } = request
  const query = db.variant(`approval ${visibilityVariant(visibility)}`, () => findQuery(visibility))
  const row = yield* db.get(query, { ...accessValues(visibility), id })
  return row === undefined ? undefined : toApproval(row)
}

export function* dueApprovals(db: Db, until: { now: EpochMs; limit: number }): Program<readonly ApprovalRecord[]> {
  return (yield* db.all(APPROVALS_DUE, until)).map(toApproval)
}

export function* nextApprovalDueAt(db: Db): Program<EpochMs | undefined> {
  return (yield* db.get(NEXT_APPROVAL_DUE, {}))?.expires_at as EpochMs | undefined
}

export function* approvalsToRemind(db: Db, until: { now: EpochMs; limit: number }): Program<readonly ApprovalRecord[]> {
  return (yield* db.all(APPROVALS_TO_REMIND, until)).map(toApproval)
}

export function* nextReminderAt(db: Db): Program<EpochMs | undefined> {
  return (yield* db.get(NEXT_REMINDER, {}))?.remind_at as EpochMs | undefined
}

export function* findAnyApproval(db: Db, id: string): Program<ApprovalRecord | undefined> {
  return yield* findApproval(db, { id, visibility: EVERY_ROW })
}

export function* listApprovals(db: Db, request: ApprovalListRequest): Program<Page<ApprovalRecord>> {
  const { filter, page, visibility } = request
  const query = db.variant(listVariant(request), () => approvalListQuery(request))
  const values = {
    runId: filter.runId ?? '',
    toolCallId: filter.toolCallId ?? '',
    ...pageValues(page),
    ...accessValues(visibility),
  }
  return toPage(yield* db.each(query, values), page, { toRecord: toApproval, rankOf: (row) => row.created_at })
}

type ListValues = AccessValues & PageValues & { readonly runId: string; readonly toolCallId: string }

const APPROVAL_ACCESS: AccessTests = {
  owner: (matches) => matches('owner'),
  ids: (matches) => matches('id'),
  agentIds: (matches) => sql`kind = 'agent' and ${matches('target_id')}`,
  workflowIds: (matches) => sql`kind = 'workflow' and ${matches('target_id')}`,
}

const findQuery = (visibility: Visibility): Query<AccessValues & { readonly id: string }, ApprovalRow> =>
  compile((param, dialect) =>
    from
      .selectFrom('approvals')
      .selectAll()
      .where('id', '=', param('id'))
      .where(isVisible(visibility, APPROVAL_ACCESS, { param, dialect })),
  )

const listVariant = ({ filter: { status, runId, toolCallId }, page, visibility }: ApprovalListRequest): string =>
  `approvals ${status} ${runId === undefined ? '-' : '+'}${toolCallId === undefined ? '-' : '+'} ${pageVariant(page)} ${visibilityVariant(visibility)}`

/** The query for one combination of filters. The status is a literal, so that the partial indexes apply. */
export function approvalListQuery({ filter, page, visibility }: ApprovalListRequest): Query<ListValues, ApprovalRow> {
  return compile((param, dialect) => {
    const { status, runId, toolCallId } = filter
    const { unindexed } = dialect
    const visible = isVisible(visibility, APPROVAL_ACCESS, { param, dialect })
    const conditions = runId === undefined ? [visible] : [sql<SqlBool>`run_id = ${param('runId')}`, unindexed(visible)]
    if (status !== undefined) conditions.push(hasStatus(status))
    if (toolCallId !== undefined) conditions.push(sql<SqlBool>`tool_call_id = ${param('toolCallId')}`)
    if (page.cursor !== undefined) conditions.push(isBeyond(param, page))
    const query = from
      .selectFrom('approvals')
      .selectAll()
      .where((eb) => eb.and(conditions))
      .orderBy('created_at', page.order)
      .orderBy('id', page.order)
      .limit(param('limit'))
    return dialect.bounded(query as Expression<ApprovalRow>, [
      'payload',
      'decision',
      'args',
      'edited_args',
      'args_schema',
    ])
  })
}

const hasStatus = (status: ApprovalStatus): RawBuilder<SqlBool> => sql`status = ${sql.lit(status)}`

/** Must contain literals, so that the partial index applies. */
const expiresAlone = sql<SqlBool>`status = 'pending' and seq is null and expires_at is not null`

export const APPROVALS_DUE = compile<{ now: number; limit: number }, ApprovalRow>((param, { earlierClock }) =>
  from
    .selectFrom('approvals')
    .selectAll()
    .where(expiresAlone)
    .where('expires_at', '<=', earlierClock(param('now')))
    .orderBy('expires_at')
    .orderBy('key')
    .limit(param('limit')),
)

export const NEXT_APPROVAL_DUE = compile<object, { expires_at: number | null }>(() =>
  from
    .selectFrom('approvals')
    .select('expires_at')
    .where(expiresAlone)
    .orderBy('expires_at')
    .limit((eb) => eb.lit(1)),
)

/** Must contain literals, so that the partial index applies. */
const awaitsReminder = sql<SqlBool>`status = 'pending' and remind_at is not null`

export const APPROVALS_TO_REMIND = compile<{ now: number; limit: number }, ApprovalRow>((param, { earlierClock }) =>
  from
    .selectFrom('approvals')
    .selectAll()
    .where(awaitsReminder)
    .where('remind_at', '<=', earlierClock(param('now')))
    .orderBy('remind_at')
    .orderBy('key')
    .limit(param('limit')),
)

export const NEXT_REMINDER = compile<object, { remind_at: number | null }>(() =>
  from
    .selectFrom('approvals')
    .select('remind_at')
    .where(awaitsReminder)
    .orderBy('remind_at')
    .limit((eb) => eb.lit(1)),
)

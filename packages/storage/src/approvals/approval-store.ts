import {
  type ApprovalFilter,
  type ApprovalRecord,
  type ApprovalStore,
  type EpochMs,
  EVERY_ROW,
  type PageQuery,
  type Visibility,
} from '@perdure/ports'
import { type SqlBool, sql } from 'kysely'
import type { Program } from '../program.ts'
import type { Query } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { type PageValues, pageValues, pageVariant, toPage } from '../query/page.ts'
import {
  type AccessTests,
  type AccessValues,
  accessValues,
  isVisible,
  visibilityVariant,
} from '../query/row-visibility.ts'
import { listQuery, selectFirst, selectRows, visibleRow } from '../query/table-queries.ts'
import type { Reads } from '../reads.ts'
import { APPROVALS, type ApprovalRow } from './approval-row.ts'

export interface ApprovalListRequest {
  readonly filter: ApprovalFilter
  readonly page: PageQuery
  readonly visibility: Visibility
}

export const approvalReads: Reads<ApprovalStore> = {
  *find(db, id, visibility) {
    const row = yield* findVisible(db, id, visibility)
    return row && APPROVALS.toRecord(row)
  },
  *list(db, filter, page, visibility) {
    const request = { filter, page, visibility }
    const query = db.variant(listVariant(request), () => approvalListQuery(request))
    const { runId = '', toolCallId = '' } = filter
    const rows = yield* db.each(query, { runId, toolCallId, ...pageValues(page), ...accessValues(visibility) })
    return toPage(rows, page, { toRecord: APPROVALS.toRecord, rankOf: (row) => row.created_at })
  },
  *due(db, now, limit) {
    return (yield* db.all(APPROVALS_DUE, { now, limit })).map(APPROVALS.toRecord)
  },
  *nextDueAt(db) {
    return (yield* db.get(NEXT_APPROVAL_DUE, {}))?.expires_at as EpochMs | undefined
  },
  *toRemind(db, now, limit) {
    return (yield* db.all(APPROVALS_TO_REMIND, { now, limit })).map(APPROVALS.toRecord)
  },
  *nextReminderAt(db) {
    return (yield* db.get(NEXT_REMINDER, {}))?.remind_at as EpochMs | undefined
  },
}

export const findAnyApproval = (db: Db, id: string): Program<ApprovalRecord | undefined> =>
  approvalReads.find(db, id, EVERY_ROW)

type ListValues = AccessValues & PageValues & { readonly runId: string; readonly toolCallId: string }

const APPROVAL_ACCESS: AccessTests = {
  owner: (matches) => matches('owner'),
  ids: (matches) => matches('id'),
  agentIds: (matches) => sql`kind = 'agent' and ${matches('target_id')}`,
  workflowIds: (matches) => sql`kind = 'workflow' and ${matches('target_id')}`,
}

const findVisible = visibleRow<ApprovalRow>('approvals', APPROVAL_ACCESS)

const listVariant = ({ filter: { status, runId, toolCallId }, page, visibility }: ApprovalListRequest): string =>
  `approvals ${status} ${runId === undefined ? '-' : '+'}${toolCallId === undefined ? '-' : '+'} ${pageVariant(page)} ${visibilityVariant(visibility)}`

/** The query for one combination of filters. The status is a literal, so that the partial indexes apply. */
export const approvalListQuery = ({ filter, page, visibility }: ApprovalListRequest): Query<ListValues, ApprovalRow> =>
  listQuery('approvals', {
    page,
    texts: ['payload', 'decision', 'args', 'edited_args', 'args_schema'],
    where(param, dialect) {
      const { status, runId, toolCallId } = filter
      const visible = isVisible(visibility, APPROVAL_ACCESS, { param, dialect })
      const conditions =
        runId === undefined ? [visible] : [sql<SqlBool>`run_id = ${param('runId')}`, dialect.unindexed(visible)]
      if (status !== undefined) conditions.push(sql`status = ${sql.lit(status)}`)
      if (toolCallId !== undefined) conditions.push(sql`tool_call_id = ${param('toolCallId')}`)
      return conditions
    },
  })

/** Must contain literals, so that the partial index applies. */
const expiresAlone = sql<SqlBool>`status = 'pending' and seq is null and expires_at is not null`

export const APPROVALS_DUE = selectRows<Until, ApprovalRow>('approvals', {
  where: (param, { earlierClock }) => [expiresAlone, sql`expires_at <= ${earlierClock(param('now'))}`],
  order: ['expires_at', 'key'],
})

export const NEXT_APPROVAL_DUE = selectFirst('expires_at', 'approvals', () => [expiresAlone])

/** Must contain literals, so that the partial index applies. */
const awaitsReminder = sql<SqlBool>`status = 'pending' and remind_at is not null`

export const APPROVALS_TO_REMIND = selectRows<Until, ApprovalRow>('approvals', {
  where: (param, { earlierClock }) => [awaitsReminder, sql`remind_at <= ${earlierClock(param('now'))}`],
  order: ['remind_at', 'key'],
})

export const NEXT_REMINDER = selectFirst('remind_at', 'approvals', () => [awaitsReminder])

interface Until {
  readonly now: number
  readonly limit: number
}

import type { HookDeliveryStatus, HookDeliveryStore, PageQuery } from '@perdure/ports'
import { type SqlBool, sql } from 'kysely'
import { compile, type Query } from '../query/compile.ts'
import { from } from '../query/from.ts'
import { type PageValues, pageValues, pageVariant, toPage } from '../query/page.ts'
import { listQuery, selectById } from '../query/table-queries.ts'
import type { Reads } from '../reads.ts'
import { HOOK_DELIVERIES, type HookDeliveryRow } from './hook-delivery-row.ts'

export interface HookDeliveryListRequest {
  readonly filter: { readonly hookId: string; readonly status?: HookDeliveryStatus | undefined }
  readonly page: PageQuery
}

export const hookDeliveryReads: Reads<HookDeliveryStore> = {
  *find(db, id) {
    const row = yield* db.get(SELECT_HOOK_DELIVERY, { id })
    return row && HOOK_DELIVERIES.toRecord(row)
  },
  *findReceived(db, hookId, deliveryId) {
    const row = yield* db.get(SELECT_RECEIVED, { hookId, deliveryId })
    return row && HOOK_DELIVERIES.toRecord(row)
  },
  *list(db, filter, page) {
    const name = `hook deliveries ${filter.status} ${pageVariant(page)}`
    const query = db.variant(name, () => hookDeliveryListQuery({ filter, page }))
    const rows = yield* db.each(query, { hookId: filter.hookId, ...pageValues(page) })
    return toPage(rows, page, { toRecord: HOOK_DELIVERIES.toRecord, rankOf: (row) => row.created_at })
  },
}

const SELECT_HOOK_DELIVERY = selectById<HookDeliveryRow>('hook_deliveries')

export const SELECT_RECEIVED = compile<{ hookId: string; deliveryId: string }, HookDeliveryRow>((param) =>
  from
    .selectFrom('hook_deliveries')
    .selectAll()
    .where('hook_id', '=', param('hookId'))
    .where('delivery_id', '=', param('deliveryId')),
)

/** The status is a literal, so that the partial index applies. */
export const hookDeliveryListQuery = ({
  filter: { status },
  page,
}: HookDeliveryListRequest): Query<PageValues & { readonly hookId: string }, HookDeliveryRow> =>
  listQuery('hook_deliveries', {
    page,
    texts: ['headers', 'body'],
    where: (param) => [
      sql<SqlBool>`hook_id = ${param('hookId')}`,
      ...(status === undefined ? [] : [sql<SqlBool>`status = ${sql.lit(status)}`]),
    ],
  })

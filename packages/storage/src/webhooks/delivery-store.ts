import type { DeliveryCounts, DeliveryRecord, DeliveryStatus, DeliveryStore, PageQuery } from '@perdure/ports'
import { type SqlBool, sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, type Query } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { type PageValues, pageValues, pageVariant, toPage } from '../query/page.ts'
import { listQuery, selectById, selectRows } from '../query/table-queries.ts'
import type { Reads } from '../reads.ts'
import { DELIVERIES, type DeliveryRow } from './delivery-row.ts'

export interface DeliveryListRequest {
  readonly filter: { readonly webhookId: string; readonly status?: DeliveryStatus | undefined }
  readonly page: PageQuery
}

export const deliveryReads: Reads<DeliveryStore> = {
  *find(db, id) {
    const row = yield* db.get(SELECT_DELIVERY, { id })
    return row && DELIVERIES.toRecord(row)
  },
  *list(db, filter, page) {
    const name = `deliveries ${filter.status} ${pageVariant(page)}`
    const query = db.variant(name, () => deliveryListQuery({ filter, page }))
    const rows = yield* db.each(query, { webhookId: filter.webhookId, ...pageValues(page) })
    return toPage(rows, page, { toRecord: DELIVERIES.toRecord, rankOf: (row) => row.created_at })
  },
  *unattempted(db, webhookId, limit) {
    return (yield* db.all(UNATTEMPTED_DELIVERIES, { webhookId, limit })).map(DELIVERIES.toRecord)
  },
  *retries(db, webhookId, now, limit) {
    return (yield* db.all(DUE_RETRIES, { webhookId, now, limit })).map(DELIVERIES.toRecord)
  },
  *counts(db) {
    const { pending, dead } = (yield* db.get(COUNT_DELIVERIES, {})) ?? { pending: 0, dead: 0 }
    return { pending, dead }
  },
}

/** Finds the delivery of the same webhook and position. */
export function* findDeliveryOfPosition(
  db: Db,
  { webhookId, position }: DeliveryRecord,
): Program<DeliveryRecord | undefined> {
  const row = position === 0 ? undefined : yield* db.get(SELECT_DELIVERY_OF_POSITION, { webhookId, position })
  return row && DELIVERIES.toRecord(row)
}

const SELECT_DELIVERY = selectById<DeliveryRow>('webhook_deliveries')

const SELECT_DELIVERY_OF_POSITION = compile<{ webhookId: string; position: number }, DeliveryRow>((param) =>
  from
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', param('webhookId'))
    .where('position', '=', param('position'))
    .where(sql<boolean>`position > 0`),
)

/** The status is a literal, so that the partial indexes apply. */
export const deliveryListQuery = ({
  filter: { status },
  page,
}: DeliveryListRequest): Query<PageValues & { readonly webhookId: string }, DeliveryRow> =>
  listQuery('webhook_deliveries', {
    page,
    texts: ['error'],
    where: (param) => [
      sql<SqlBool>`webhook_id = ${param('webhookId')}`,
      ...(status === undefined ? [] : [sql<SqlBool>`status = ${sql.lit(status)}`]),
    ],
  })

export const UNATTEMPTED_DELIVERIES = selectRows<{ webhookId: string; limit: number }, DeliveryRow>(
  'webhook_deliveries',
  {
    where: (param) => [sql`webhook_id = ${param('webhookId')}`, sql`status = 'pending' and attempts = 0`],
    order: ['position', 'id'],
  },
)

export const DUE_RETRIES = selectRows<{ webhookId: string; now: number; limit: number }, DeliveryRow>(
  'webhook_deliveries',
  {
    where: (param) => [
      sql`webhook_id = ${param('webhookId')}`,
      sql`status = 'pending' and attempts > 0`,
      sql`due_at <= ${param('now')}`,
    ],
    order: ['due_at', 'id'],
  },
)

export const COUNT_DELIVERIES = compile<object, DeliveryCounts>(
  () => sql`select
    (select cast(count(*) as integer) from webhook_deliveries where status = 'pending') as pending,
    (select cast(count(*) as integer) from webhook_deliveries where status = 'dead') as dead`,
)

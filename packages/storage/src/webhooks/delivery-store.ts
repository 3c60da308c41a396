import type { DeliveryCounts, DeliveryRecord, DeliveryStatus, EpochMs, Page, PageQuery } from '@perdure/ports'
import { sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, type Query } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, toPage } from '../query/page.ts'
import { type DeliveryRow, toDelivery } from './delivery-row.ts'

export interface DeliveryListRequest {
  readonly filter: { readonly webhookId: string; readonly status?: DeliveryStatus | undefined }
  readonly page: PageQuery
}

export function* findDelivery(db: Db, id: string): Program<DeliveryRecord | undefined> {
  const row = yield* db.get(SELECT_DELIVERY, { id })
  return row === undefined ? undefined : toDelivery(row)
}

/** Finds the delivery of the same webhook and position. */
export function* findDeliveryOfPosition(
  db: Db,
  { webhookId, position }: DeliveryRecord,
): Program<DeliveryRecord | undefined> {
  const row = position === 0 ? undefined : yield* db.get(SELECT_DELIVERY_OF_POSITION, { webhookId, position })
  return row === undefined ? undefined : toDelivery(row)
}

export function* listDeliveries(db: Db, request: DeliveryListRequest): Program<Page<DeliveryRecord>> {
  const { filter, page } = request
  const query = db.variant(`deliveries ${filter.status} ${pageVariant(page)}`, () => deliveryListQuery(request))
  const rows = yield* db.each(query, { webhookId: filter.webhookId, ...pageValues(page) })
  return toPage(rows, page, { toRecord: toDelivery, rankOf: (row) => row.created_at })
}

export function* unattemptedDeliveries(
  db: Db,
  request: { readonly webhookId: string; readonly limit: number },
): Program<readonly DeliveryRecord[]> {
  return (yield* db.all(UNATTEMPTED_DELIVERIES, request)).map(toDelivery)
}

export function* dueRetries(
  db: Db,
  request: { readonly webhookId: string; readonly now: EpochMs; readonly limit: number },
): Program<readonly DeliveryRecord[]> {
  return (yield* db.all(DUE_RETRIES, request)).map(toDelivery)
}

export function* countDeliveries(db: Db): Program<DeliveryCounts> {
  const { pending, dead } = (yield* db.get(COUNT_DELIVERIES, {})) ?? { pending: 0, dead: 0 }
  return { pending, dead }
}

const SELECT_DELIVERY = compile<{ id: string }, DeliveryRow>((param) =>
  from.selectFrom('webhook_deliveries').selectAll().where('id', '=', param('id')),
)

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
  compile((param, dialect) =>
    dialect.bounded(
      from
        .selectFrom('webhook_deliveries')
        .selectAll()
        .where('webhook_id', '=', param('webhookId'))
        .$if(status !== undefined, (query) => query.where(sql<boolean>`status = ${sql.lit(status)}`))
        .$if(page.cursor !== undefined, (query) => query.where(isBeyond(param, page)))
        .orderBy('created_at', page.order)
        .orderBy('id', page.order)
        .limit(param('limit'))
        .$castTo<DeliveryRow>(),
      ['error'],
    ),
  )

export const UNATTEMPTED_DELIVERIES = compile<{ webhookId: string; limit: number }, DeliveryRow>((param) =>
  from
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', param('webhookId'))
    .where(sql<boolean>`status = 'pending' and attempts = 0`)
    .orderBy('position')
    .orderBy('id')
    .limit(param('limit')),
)

export const DUE_RETRIES = compile<{ webhookId: string; now: number; limit: number }, DeliveryRow>((param) =>
  from
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', param('webhookId'))
    .where(sql<boolean>`status = 'pending'`)
    .where(sql<boolean>`attempts > 0`)
    .where('due_at', '<=', param('now'))
    .orderBy('due_at')
    .orderBy('id')
    .limit(param('limit')),
)

export const COUNT_DELIVERIES = compile<object, DeliveryCounts>(
  () => sql`select
    (select cast(count(*) as integer) from webhook_deliveries where status = 'pending') as pending,
    (select cast(count(*) as integer) from webhook_deliveries where status = 'dead') as dead`,
)

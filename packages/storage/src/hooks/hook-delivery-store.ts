import type { HookDeliveryRecord, HookDeliveryStatus, Page, PageQuery } from '@perdure/ports'
import { sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, type Query } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, toPage } from '../query/page.ts'
import { type HookDeliveryRow, toHookDelivery } from './hook-delivery-row.ts'

export interface HookDeliveryListRequest {
  readonly filter: { readonly hookId: string; readonly status?: HookDeliveryStatus | undefined }
  readonly page: PageQuery
}

export interface ReceivedKey {
  readonly hookId: string
  readonly deliveryId: string
}

export function* findHookDelivery(db: Db, id: string): Program<HookDeliveryRecord | undefined> {
  const row = yield* db.get(SELECT_HOOK_DELIVERY, { id })
  return row === undefined ? undefined : toHookDelivery(row)
}

export function* findReceived(db: Db, { hookId, deliveryId }: ReceivedKey): Program<HookDeliveryRecord | undefined> {
  const row = yield* db.get(SELECT_RECEIVED, { hookId, deliveryId })
  return row === undefined ? undefined : toHookDelivery(row)
}

export function* listHookDeliveries(db: Db, request: HookDeliveryListRequest): Program<Page<HookDeliveryRecord>> {
  const { filter, page } = request
  const query = db.variant(`hook deliveries ${filter.status} ${pageVariant(page)}`, () =>
    hookDeliveryListQuery(request),
  )
  const rows = yield* db.each(query, { hookId: filter.hookId, ...pageValues(page) })
  return toPage(rows, page, { toRecord: toHookDelivery, rankOf: (row) => row.created_at })
}

const SELECT_HOOK_DELIVERY = compile<{ id: string }, HookDeliveryRow>((param) =>
  from.selectFrom('hook_deliveries').selectAll().where('id', '=', param('id')),
)

export const SELECT_RECEIVED = compile<ReceivedKey, HookDeliveryRow>((param) =>
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
  compile((param, dialect) =>
    dialect.bounded(
      from
        .selectFrom('hook_deliveries')
        .selectAll()
        .where('hook_id', '=', param('hookId'))
        .$if(status !== undefined, (query) => query.where(sql<boolean>`status = ${sql.lit(status)}`))
        .$if(page.cursor !== undefined, (query) => query.where(isBeyond(param, page)))
        .orderBy('created_at', page.order)
        .orderBy('id', page.order)
        .limit(param('limit'))
        .$castTo<HookDeliveryRow>(),
      ['headers', 'body'],
    ),
  )

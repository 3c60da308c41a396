import { sql } from 'kysely'
import { compile, paramsFor } from '../query/compile.ts'
import { from } from '../query/from.ts'
import type { WriteAppliers } from '../transaction.ts'
import {
  CHANGED_DELIVERY_COLUMNS,
  DELIVERY_COLUMNS,
  type DeliveryRow,
  toChangedColumns,
  toDeliveryRow,
} from './delivery-row.ts'
import { findDelivery, findDeliveryOfPosition } from './delivery-store.ts'
import { findWebhook } from './webhook-store.ts'

type DeliveryWrite =
  | 'delivery.insert'
  | 'delivery.claim'
  | 'delivery.change'
  | 'delivery.redeliver'
  | 'delivery.release'
  | 'delivery.prune'

export const deliveryWrites: WriteAppliers<DeliveryWrite> = {
  *'delivery.insert'({ db }, { type, delivery }) {
    if ((yield* findWebhook(db, delivery.webhookId)) === undefined)
      return { type, current: yield* findDelivery(db, delivery.id) }
    const changes = yield* db.run(insertDelivery, toDeliveryRow(delivery))
    return changes === 1
      ? 1
      : { type, current: (yield* findDelivery(db, delivery.id)) ?? (yield* findDeliveryOfPosition(db, delivery)) }
  },
  *'delivery.claim'({ db }, { type, id, lease, now, until }) {
    const changes = yield* db.run(claimDelivery, { id, lease, now, until })
    return changes === 1 ? 1 : { type, current: yield* findDelivery(db, id) }
  },
  *'delivery.change'({ db }, { type, id, lease, change }) {
    const changes = yield* db.run(changeDelivery, { id, lease, ...toChangedColumns(change) })
    return changes === 1 ? 1 : { type, current: yield* findDelivery(db, id) }
  },
  *'delivery.redeliver'({ db }, { type, id, now }) {
    return (yield* db.run(redeliver, { id, now })) === 1 ? 1 : { type, current: yield* findDelivery(db, id) }
  },
  *'delivery.release'({ db }, { now }) {
    return yield* db.run(RELEASE_DELIVERIES, { now })
  },
  *'delivery.prune'({ db }, { before, limit }) {
    return yield* db.run(PRUNE_DELIVERIES, { before, limit })
  },
}

const insertDelivery = compile<DeliveryRow, unknown>((param) =>
  from
    .insertInto('webhook_deliveries')
    .values(paramsFor(param, DELIVERY_COLUMNS))
    .onConflict((conflict) => conflict.doNothing()),
)

const claimDelivery = compile<{ id: string; lease: string; now: number; until: number }, unknown>((param) =>
  from
    .updateTable('webhook_deliveries')
    .set({ lease: param('lease'), due_at: param('until') })
    .where('id', '=', param('id'))
    .where(sql<boolean>`status = 'pending'`)
    .where('due_at', '<=', param('now')),
)

const changeDelivery = compile<
  Pick<DeliveryRow, (typeof CHANGED_DELIVERY_COLUMNS)[number]> & { readonly id: string; readonly lease: string },
  unknown
>((param) =>
  from
    .updateTable('webhook_deliveries')
    .set({ ...paramsFor(param, CHANGED_DELIVERY_COLUMNS), lease: null })
    .where('id', '=', param('id'))
    .where('lease', '=', param('lease')),
)

const redeliver = compile<{ id: string; now: number }, unknown>((param) =>
  from
    .updateTable('webhook_deliveries')
    .set({ status: 'pending', due_at: param('now'), ended_at: null, earlier_attempts: sql`attempts` })
    .where('id', '=', param('id'))
    .where('lease', 'is', null),
)

export const RELEASE_DELIVERIES = compile<{ now: number }, unknown>((param) =>
  from
    .updateTable('webhook_deliveries')
    .set({ lease: null, due_at: param('now') })
    .where('lease', 'is not', null),
)

export const PRUNE_DELIVERIES = compile<{ before: number; limit: number }, unknown>((param, dialect) => {
  const over = sql`select id from webhook_deliveries where created_at < ${param('before')} and status <> 'pending'
    limit ${param('limit')}`
  return sql`delete from webhook_deliveries where ${dialect.isSelected('id', over)}`
})

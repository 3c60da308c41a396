import {
  CHANGED_DELIVERY_COLUMNS,
  DELIVERY_COLUMNS,
  type DeliveryRow,
  paramsFor,
  toChangedColumns,
  toDeliveryRow,
} from '@perdure/sql'
import { sql } from 'kysely'
import { compile, from } from '../query/compile.ts'
import { findDelivery, findDeliveryOfPosition } from './delivery-store.ts'
import { findWebhook } from './webhook-store.ts'
import type { WriteAppliers } from './write-applier.ts'

type DeliveryWrite =
  | 'delivery.insert'
  | 'delivery.claim'
  | 'delivery.change'
  | 'delivery.redeliver'
  | 'delivery.release'
  | 'delivery.prune'

export const deliveryWrites: WriteAppliers<DeliveryWrite> = {
  'delivery.insert'({ db }, { type, delivery }) {
    if (findWebhook(db, delivery.webhookId) === undefined) return { type, current: findDelivery(db, delivery.id) }
    const { changes } = db.run(insertDelivery, toDeliveryRow(delivery))
    return changes === 1 ? 1 : { type, current: findDelivery(db, delivery.id) ?? findDeliveryOfPosition(db, delivery) }
  },
  'delivery.claim'({ db }, { type, id, lease, now, until }) {
    const { changes } = db.run(claimDelivery, { id, lease, now, until })
    return changes === 1 ? 1 : { type, current: findDelivery(db, id) }
  },
  'delivery.change'({ db }, { type, id, lease, change }) {
    const { changes } = db.run(changeDelivery, { id, lease, ...toChangedColumns(change) })
    return changes === 1 ? 1 : { type, current: findDelivery(db, id) }
  },
  'delivery.redeliver'({ db }, { type, id, now }) {
    return db.run(redeliver, { id, now }).changes === 1 ? 1 : { type, current: findDelivery(db, id) }
  },
  'delivery.release': ({ db }, { now }) => db.run(RELEASE_DELIVERIES, { now }).changes,
  'delivery.prune': ({ db }, { before, limit }) => db.run(PRUNE_DELIVERIES, { before, limit }).changes,
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

export const PRUNE_DELIVERIES = compile<{ before: number; limit: number }, unknown>((param) =>
  from
    .deleteFrom('webhook_deliveries')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('webhook_deliveries')
        .select('id')
        .where('created_at', '<', param('before'))
        .where(sql<boolean>`status <> 'pending'`)
        .limit(param('limit')),
    ),
)

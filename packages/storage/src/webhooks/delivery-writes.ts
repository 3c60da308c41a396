import { sql } from 'kysely'
import { compile, paramsFor } from '../query/compile.ts'
import { from } from '../query/from.ts'
import type { RowIn } from '../query/record-table.ts'
import { insertInto, pruneQuery } from '../query/table-queries.ts'
import type { WriteAppliers, WritesOf } from '../transaction.ts'
import { DELIVERIES, DELIVERY_OUTCOMES, type DeliveryRow } from './delivery-row.ts'
import { deliveryReads, findDeliveryOfPosition } from './delivery-store.ts'
import { webhookReads } from './webhook-store.ts'

export const deliveryWrites: WriteAppliers<WritesOf<'delivery'>> = {
  *'delivery.insert'({ db }, { type, delivery }) {
    if ((yield* webhookReads.find(db, delivery.webhookId)) === undefined)
      return { type, current: yield* deliveryReads.find(db, delivery.id) }
    const changes = yield* db.run(insertDelivery, DELIVERIES.toRow(delivery))
    return changes === 1
      ? 1
      : { type, current: (yield* deliveryReads.find(db, delivery.id)) ?? (yield* findDeliveryOfPosition(db, delivery)) }
  },
  *'delivery.claim'({ db }, { type, id, lease, now, until }) {
    const changes = yield* db.run(claimDelivery, { id, lease, now, until })
    return changes === 1 ? 1 : { type, current: yield* deliveryReads.find(db, id) }
  },
  *'delivery.change'({ db }, { type, id, lease, change }) {
    const changes = yield* db.run(changeDelivery, { id, lease, ...DELIVERY_OUTCOMES.toRow(change) })
    return changes === 1 ? 1 : { type, current: yield* deliveryReads.find(db, id) }
  },
  *'delivery.redeliver'({ db }, { type, id, now }) {
    return (yield* db.run(redeliver, { id, now })) === 1 ? 1 : { type, current: yield* deliveryReads.find(db, id) }
  },
  *'delivery.release'({ db }, { now }) {
    return yield* db.run(RELEASE_DELIVERIES, { now })
  },
  *'delivery.prune'({ db }, { before, limit }) {
    return yield* db.run(PRUNE_DELIVERIES, { before, limit })
  },
}

const insertDelivery = insertInto<DeliveryRow>('webhook_deliveries', DELIVERIES.columns)

const claimDelivery = compile<{ id: string; lease: string; now: number; until: number }, unknown>((param) =>
  from
    .updateTable('webhook_deliveries')
    .set({ lease: param('lease'), due_at: param('until') })
    .where('id', '=', param('id'))
    .where(sql<boolean>`status = 'pending'`)
    .where('due_at', '<=', param('now')),
)

const changeDelivery = compile<
  RowIn<typeof DELIVERY_OUTCOMES> & { readonly id: string; readonly lease: string },
  unknown
>((param) =>
  from
    .updateTable('webhook_deliveries')
    .set({ ...paramsFor(param, DELIVERY_OUTCOMES.columns), lease: null })
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

export const PRUNE_DELIVERIES = pruneQuery<{ before: number; limit: number }>(
  'webhook_deliveries',
  (param) => sql`created_at < ${param('before')} and status <> 'pending'`,
)

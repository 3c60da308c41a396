import { sql } from 'kysely'
import { compile, paramsFor } from '../query/compile.ts'
import { from } from '../query/from.ts'
import type { RowIn } from '../query/record-table.ts'
import { insertInto, pruneQuery } from '../query/table-queries.ts'
import type { WriteAppliers, WritesOf } from '../transaction.ts'
import { HOOK_DELIVERIES, HOOK_OUTCOMES, type HookDeliveryRow } from './hook-delivery-row.ts'
import { hookDeliveryReads } from './hook-delivery-store.ts'

export const hookDeliveryWrites: WriteAppliers<WritesOf<'hook-delivery'>> = {
  *'hook-delivery.insert'({ db }, { type, delivery }) {
    if ((yield* db.run(insertHookDelivery, HOOK_DELIVERIES.toRow(delivery))) === 1) return 1
    const { id, hookId, deliveryId } = delivery
    const current =
      (yield* hookDeliveryReads.find(db, id)) ?? (yield* hookDeliveryReads.findReceived(db, hookId, deliveryId))
    return { type, current }
  },
  *'hook-delivery.replay'({ db }, { type, id, replays, outcome }) {
    const changes = yield* db.run(replayHookDelivery, { id, before: replays, ...HOOK_OUTCOMES.toRow(outcome) })
    return changes === 1 ? 1 : { type, current: yield* hookDeliveryReads.find(db, id) }
  },
  *'hook-delivery.prune'({ db }, { before, limit }) {
    return yield* db.run(PRUNE_HOOK_DELIVERIES, { before, limit })
  },
}

const insertHookDelivery = insertInto<HookDeliveryRow>('hook_deliveries', HOOK_DELIVERIES.columns)

const replayHookDelivery = compile<RowIn<typeof HOOK_OUTCOMES> & { id: string; before: number }, unknown>((param) =>
  from
    .updateTable('hook_deliveries')
    .set({ ...paramsFor(param, HOOK_OUTCOMES.columns), replays: sql`replays + 1` })
    .where('id', '=', param('id'))
    .where('replays', '=', param('before')),
)

export const PRUNE_HOOK_DELIVERIES = pruneQuery<{ before: number; limit: number }>(
  'hook_deliveries',
  (param) => sql`created_at < ${param('before')}`,
)

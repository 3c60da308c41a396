import { sql } from 'kysely'
import { compile, paramsFor } from '../query/compile.ts'
import { from } from '../query/from.ts'
import type { WriteAppliers } from '../transaction.ts'
import {
  HOOK_DELIVERY_COLUMNS,
  HOOK_OUTCOME_COLUMNS,
  type HookDeliveryRow,
  type HookOutcomeColumns,
  toHookDeliveryRow,
  toOutcomeColumns,
} from './hook-delivery-row.ts'
import { findHookDelivery, findReceived } from './hook-delivery-store.ts'

export const hookDeliveryWrites: WriteAppliers<
  'hook-delivery.insert' | 'hook-delivery.replay' | 'hook-delivery.prune'
> = {
  *'hook-delivery.insert'({ db }, { type, delivery }) {
    if ((yield* db.run(insertHookDelivery, toHookDeliveryRow(delivery))) === 1) return 1
    return { type, current: (yield* findHookDelivery(db, delivery.id)) ?? (yield* findReceived(db, delivery)) }
  },
  *'hook-delivery.replay'({ db }, { type, id, replays, outcome }) {
    const changes = yield* db.run(replayHookDelivery, { id, before: replays, ...toOutcomeColumns(outcome) })
    return changes === 1 ? 1 : { type, current: yield* findHookDelivery(db, id) }
  },
  *'hook-delivery.prune'({ db }, { before, limit }) {
    return yield* db.run(PRUNE_HOOK_DELIVERIES, { before, limit })
  },
}

const insertHookDelivery = compile<HookDeliveryRow, unknown>((param) =>
  from
    .insertInto('hook_deliveries')
    .values(paramsFor(param, HOOK_DELIVERY_COLUMNS))
    .onConflict((conflict) => conflict.doNothing()),
)

const replayHookDelivery = compile<HookOutcomeColumns & { readonly id: string; readonly before: number }, unknown>(
  (param) =>
    from
      .updateTable('hook_deliveries')
      .set({ ...paramsFor(param, HOOK_OUTCOME_COLUMNS), replays: sql`replays + 1` })
      .where('id', '=', param('id'))
      .where('replays', '=', param('before')),
)

export const PRUNE_HOOK_DELIVERIES = compile<{ before: number; limit: number }, unknown>((param, dialect) => {
  const over = sql`select id from hook_deliveries where created_at < ${param('before')} limit ${param('limit')}`
  return sql`delete from hook_deliveries where ${dialect.isSelected('id', over)}`
})

import type { HookDeliveryRecord, HookDeliveryStore } from '@perdure/ports'
import { createRecordTable } from './record-table.ts'
import type { Table, WritesOf } from './write-applier.ts'

export function createHookDeliveryTable(): Table<HookDeliveryStore, WritesOf<'hook-delivery'>> {
  const deliveries = createRecordTable<HookDeliveryRecord>()
  const received = (hookId: string, deliveryId: string) =>
    deliveries.all().find((one) => one.hookId === hookId && one.deliveryId === deliveryId)

  return {
    store: {
      find: async (id) => deliveries.get(id),
      findReceived: async (hookId, deliveryId) => received(hookId, deliveryId),
      list: async ({ hookId, status }, page) =>
        deliveries.page(page, (one) => one.hookId === hookId && (status === undefined || one.status === status)),
    },
    appliers: {
      'hook-delivery.insert'({ type, delivery }, { undo }) {
        const current = deliveries.get(delivery.id) ?? received(delivery.hookId, delivery.deliveryId)
        if (current !== undefined) return { type, current }
        deliveries.put(delivery, undo)
        return 1
      },
      'hook-delivery.replay'({ type, id, replays, outcome }, { undo }) {
        const current = deliveries.get(id)
        if (current?.replays !== replays) return { type, current }
        const { reason, event, ...rest } = current
        deliveries.put(Object.freeze({ ...rest, ...outcome, replays: replays + 1 }), undo)
        return 1
      },
      'hook-delivery.prune'({ before, limit }, { undo }) {
        const pruned = deliveries
          .all()
          .filter(({ createdAt }) => createdAt < before)
          .slice(0, limit)
        for (const { id } of pruned) deliveries.delete(id, undo)
        return pruned.length
      },
    },
  }
}

import type { DeliveryRecord, DeliveryStore } from '@perdure/ports'
import { createRecordTable } from './record-table.ts'
import type { UndoLog } from './undo-log.ts'
import type { WebhookTable } from './webhook-table.ts'
import type { Table, WritesOf } from './write-applier.ts'

export function createDeliveryTable(
  webhooks: WebhookTable,
): Table<DeliveryStore, 'webhook.delete' | WritesOf<'delivery'>> {
  const deliveries = createRecordTable<DeliveryRecord>()
  const pending = (webhookId: string) =>
    deliveries.all().filter((delivery) => delivery.webhookId === webhookId && delivery.status === 'pending')
  const ofPosition = ({ webhookId, position }: DeliveryRecord) =>
    position === 0
      ? undefined
      : deliveries.all().find((delivery) => delivery.webhookId === webhookId && delivery.position === position)
  const set = (delivery: DeliveryRecord, undo: UndoLog): 1 => {
    deliveries.put(Object.freeze(delivery), undo)
    return 1
  }

  return {
    store: {
      find: async (id) => deliveries.get(id),
      list: async ({ webhookId, status }, page) =>
        deliveries.page(
          page,
          (delivery) => delivery.webhookId === webhookId && (status === undefined || delivery.status === status),
        ),
      unattempted: async (webhookId, limit) =>
        pending(webhookId)
          .filter(({ attempts }) => attempts === 0)
          .sort(by(({ position }) => position))
          .slice(0, limit),
      retries: async (webhookId, now, limit) =>
        pending(webhookId)
          .filter(({ attempts, dueAt }) => attempts > 0 && dueAt <= now)
          .sort(by(({ dueAt }) => dueAt))
          .slice(0, limit),
      async counts() {
        const countOf = (wanted: string) => deliveries.all().filter(({ status }) => status === wanted).length
        return { pending: countOf('pending'), dead: countOf('dead') }
      },
    },
    appliers: {
      'webhook.delete'({ id }, { undo }) {
        if (!webhooks.has(id)) return 0
        for (const delivery of [...deliveries.all()])
          if (delivery.webhookId === id) deliveries.delete(delivery.id, undo)
        webhooks.remove(id, undo)
        return 1
      },
      'delivery.insert'({ type, delivery }, { undo }) {
        const current = deliveries.get(delivery.id) ?? ofPosition(delivery)
        if (current !== undefined || !webhooks.has(delivery.webhookId)) return { type, current }
        return set(delivery, undo)
      },
      'delivery.claim'({ type, id, lease, now, until }, { undo }) {
        const current = deliveries.get(id)
        if (current?.status !== 'pending' || current.dueAt > now) return { type, current }
        return set({ ...current, lease, dueAt: until }, undo)
      },
      'delivery.change'({ type, id, lease, change }, { undo }) {
        const current = deliveries.get(id)
        if (current?.lease !== lease) return { type, current }
        return set({ ...current, ...NO_OUTCOME, ...change }, undo)
      },
      'delivery.redeliver'({ type, id, now }, { undo }) {
        const current = deliveries.get(id)
        if (current === undefined || current.lease !== undefined) return { type, current }
        const earlierAttempts = current.attempts
        return set({ ...current, status: 'pending', dueAt: now, endedAt: undefined, earlierAttempts }, undo)
      },
      'delivery.release'({ now }, { undo }) {
        const claimed = deliveries.all().filter(({ lease }) => lease !== undefined)
        for (const delivery of claimed) set({ ...delivery, lease: undefined, dueAt: now }, undo)
        return claimed.length
      },
      'delivery.prune'({ before, limit }, { undo }) {
        const old = deliveries.all().filter(({ createdAt, status }) => createdAt < before && status !== 'pending')
        const pruned = old.slice(0, limit)
        for (const { id } of pruned) deliveries.delete(id, undo)
        return pruned.length
      },
    },
  }
}

const NO_OUTCOME = { lease: undefined, responseStatus: undefined, error: undefined, endedAt: undefined } as const

const by = (rankOf: (delivery: DeliveryRecord) => number) => (one: DeliveryRecord, other: DeliveryRecord) =>
  rankOf(one) - rankOf(other) || (one.id < other.id ? -1 : 1)

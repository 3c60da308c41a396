import type { Conflict, Storage, Write } from '@perdure/ports'
import { aDelivery, aWebhook } from '../webhook-builders.ts'
import { commit } from './commits.ts'
import { HOOK_CHANGES, HOOK_CONFLICTS, HOOK_SEED, hookSnapshot } from './hook-atomicity.ts'
import { at } from './optional-fields.ts'

type TypesOf<W extends { readonly type: string }> = Extract<
  W['type'],
  `webhook.${string}` | `delivery.${string}` | `hook-delivery.${string}`
>

const DELIVERIES = ['claimed', 'due', 'dead', 'old'].map((id, index) =>
  aDelivery({ id, position: index + 1, status: id === 'dead' ? 'dead' : id === 'old' ? 'delivered' : 'pending' }),
)
const CLAIM = { type: 'delivery.claim', lease: 'lease', now: at(0), until: at(9) } as const

export const seedWebhooks = (storage: Storage) =>
  commit(
    storage,
    { type: 'webhook.insert', webhook: aWebhook() },
    { type: 'webhook.insert', webhook: aWebhook({ id: 'other' }) },
    ...DELIVERIES.map((delivery) => ({ type: 'delivery.insert', delivery }) as const),
    { ...CLAIM, id: 'claimed' },
    ...HOOK_SEED,
  )

/** One write of every type. In this order, each succeeds after the seed and has a visible effect. */
export const WEBHOOK_CHANGES: { readonly [T in TypesOf<Write>]: Extract<Write, { readonly type: T }> } = {
  'webhook.insert': { type: 'webhook.insert', webhook: aWebhook({ id: 'third' }) },
  'webhook.replace': { type: 'webhook.replace', webhook: aWebhook({ position: 9, version: 2 }) },
  'delivery.insert': { type: 'delivery.insert', delivery: aDelivery({ id: 'new', position: 9 }) },
  'delivery.change': {
    type: 'delivery.change',
    id: 'claimed',
    lease: 'lease',
    change: { status: 'dead', attempts: 1, dueAt: at(1), endedAt: at(1) },
  },
  'delivery.claim': { ...CLAIM, id: 'due' },
  'delivery.redeliver': { type: 'delivery.redeliver', id: 'dead', now: at(2) },
  'delivery.release': { type: 'delivery.release', now: at(1) },
  'delivery.prune': { type: 'delivery.prune', before: at(1), limit: 9 },
  'webhook.delete': { type: 'webhook.delete', id: 'hook' },
  ...HOOK_CHANGES,
}

/** One write of every type that can conflict. Each conflicts after the seed, with or without the changes in between. */
export const WEBHOOK_CONFLICTS: { readonly [T in TypesOf<Conflict>]: Extract<Write, { readonly type: T }> } = {
  'webhook.insert': { type: 'webhook.insert', webhook: aWebhook({ id: 'other' }) },
  'webhook.replace': { type: 'webhook.replace', webhook: aWebhook({ id: 'other', version: 9 }) },
  'delivery.insert': { type: 'delivery.insert', delivery: aDelivery({ id: 'x', webhookId: 'unknown' }) },
  'delivery.claim': { ...CLAIM, id: 'unknown' },
  'delivery.change': { ...WEBHOOK_CHANGES['delivery.change'], id: 'unknown' },
  'delivery.redeliver': { type: 'delivery.redeliver', id: 'unknown', now: at(1) },
  ...HOOK_CONFLICTS,
}

/** Everything that the ports return about the rows that the seed and the changes touch. */
export async function webhookSnapshot(storage: Storage) {
  const { webhooks, deliveries } = storage
  return {
    ...(await hookSnapshot(storage)),
    webhooks: await webhooks.list(),
    deliveries: await deliveries.list({ webhookId: 'hook' }, { limit: 200, order: 'asc' }),
    deliveryCounts: await deliveries.counts(),
  }
}
